import type { CommandResult, CommandTask, StageResult } from '../../model/command-task.ts'
import type { Language } from '../../model/language.ts'

/** A language that is installed on no worker. */
export const toy = (name: string, more: Partial<Language> = {}): Language => ({
  name,
  title: name,
  aliases: [],
  fileName: `main.${name}`,
  compile: undefined,
  run: { argv: [name, '{file}'], env: {}, limits: { wallMs: 1000 } },
  probe: { programs: [name], argv: [name, '--version'], pattern: String.raw`version (\S+)` },
  selfTest: { code: 'greet', stdin: 'you', stdout: 'Hello, you\n' },
  ...more,
})

const stream = (text: string) => ({ inline: Buffer.from(text), digest: undefined, droppedBytes: 0, droppedAt: 0 })

export const ended = (stage: Partial<StageResult> & { readonly says?: string }): CommandResult => ({
  stages: [
    {
      ...{ name: 'run', cause: 'ok', exitCode: 0, signal: undefined, reason: undefined, stderr: stream('') },
      ...{ usage: { wallMs: 1, cpuUserMs: 1, cpuSystemMs: 1, peakMemoryBytes: 1, how: 'counted' } },
      stdout: stream(stage.says ?? ''),
      ...stage,
    },
  ],
  outputs: { root: undefined, files: [], symlinks: [], problem: undefined },
  metadata: undefined,
})

/** The output of a working toolchain, for its version and for its self-test. */
export const workingToolchain = async ({ stages }: CommandTask): Promise<CommandResult> =>
  ended({ says: stages[0]?.name === 'version' ? 'toy version 1.2\n' : 'Hello, you\n' })
