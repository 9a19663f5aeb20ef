import { invalid } from '../../../base/fault.ts'
import type { CommandResult, StageStream } from '../../../model/command-task.ts'
import type { SnippetFile } from '../../../model/snippet.ts'

/**
 * A program of several files contains scripts that compile and run it. For the grid it is one script that calls both.
 * The output of the compile script, and its failure, are output files of the task.
 */
const COMPILE_OUTPUT = '.judge0-compile-output'
const COMPILE_FAILED = '.judge0-compile-failed'
const START = '.judge0-start.sh'

export const PROJECT_OUTPUTS: readonly string[] = [COMPILE_OUTPUT, COMPILE_FAILED]

const START_SCRIPT = `for script in compile.sh compile; do
  [ -f "$script" ] || continue
  bash "$script" >${COMPILE_OUTPUT} 2>&1 </dev/null && break
  : >${COMPILE_FAILED}
  exit 1
done
[ -f run.sh ] && exec bash run.sh
exec bash run
`

export function projectFiles(files: readonly SnippetFile[]): SnippetFile[] {
  if (!files.some(({ name }) => name === 'run' || name === 'run.sh'))
    throw invalid('the archive has no script called run')
  return [{ name: START, contents: Buffer.from(START_SCRIPT) }, ...files]
}

export const isProject = (files: readonly Pick<SnippetFile, 'name'>[]): boolean => files[0]?.name === START

export const isCompiledFirst = (files: readonly Pick<SnippetFile, 'name'>[]): boolean =>
  files.some(({ name }) => name === 'compile' || name === 'compile.sh')

export interface ProjectCompile {
  readonly hasFailed: boolean
  readonly output: StageStream | undefined
}

export function projectCompile({ outputs }: CommandResult): ProjectCompile {
  const said = outputs.files.find(({ path }) => path === COMPILE_OUTPUT)
  return {
    hasFailed: outputs.files.some(({ path }) => path === COMPILE_FAILED),
    output: said && { inline: undefined, digest: said.digest, droppedBytes: 0, droppedAt: 0 },
  }
}
