import { INSIDE } from '../run/inside.ts'
import { type ProgramProblem, programProblem } from '../run/program.ts'
import { isInSight, type SystemPart } from './system-view.ts'

/**
 * Why a program cannot be started, where that can be told from outside: one without a slash, looked for along folders of the
 * machine that the room sees as they are. All others are looked for by the room itself.
 */
export function problemInside(
  program: string,
  path: string | undefined,
  parts: readonly SystemPart[],
): ProgramProblem | undefined {
  const folders = (path ?? '').split(':')
  const isPlain = folders.every((folder) => folder.startsWith('/') && !folder.startsWith(INSIDE.room))
  if (program.includes('/') || !isPlain) return undefined
  const seen = folders.filter((folder) => isInSight(folder, parts))
  const problem = programProblem(program, '/', seen.join(':'))
  return problem === undefined
    ? undefined
    : {
        ...problem,
        what: `${JSON.stringify(program.slice(0, 300))} was not found (PATH is ${JSON.stringify(path?.slice(0, 500))})`,
      }
}
