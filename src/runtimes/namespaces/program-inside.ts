import { INSIDE } from '../run/inside.ts'
import { type ProgramProblem, programProblem } from '../run/program.ts'
import { isInSight, type SystemPart } from './system-view.ts'

/**
 * Returns why a program cannot be started, where that can be determined outside: a name without a slash, searched for
 * in folders that the room shares with the machine. The room itself looks up all others.
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
