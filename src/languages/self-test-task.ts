import { type CommandResult, type CommandTask, commandTaskOf, type StageResult } from '../model/command-task.ts'
import type { IsolationLevel } from '../model/isolation.ts'
import { LANGUAGE_PROPERTY, type Language } from '../model/language.ts'
import { snippetOf } from '../model/snippet.ts'
import { snippetTaskUnder } from './snippet-task.ts'

/** Java takes seconds to start on a busy machine; a toolchain that takes longer than this is unusable. */
const VERSION_LIMITS = { wallMs: 20_000, memoryBytes: 1024 ** 3, outputBytes: 64 * 1024, outputFloodBytes: 1024 ** 2 }

/** Asks a toolchain for its version. */
export const versionTask = ({ name, probe, run }: Language, isolation: IsolationLevel): CommandTask =>
  commandTaskOf({
    stages: [
      {
        name: 'version',
        argv: probe.argv,
        env: Object.entries(run.env).map(([key, value]) => ({ name: key, value })),
        limits: VERSION_LIMITS,
      },
    ],
    platform: [{ name: LANGUAGE_PROPERTY, value: name }],
    isolation,
  })

/** The task that a snippet would be, with the same isolation. */
export const selfTestTask = (language: Language, isolation: IsolationLevel): CommandTask =>
  snippetTaskUnder({ least: isolation })(
    snippetOf({
      language: language.name,
      files: [{ name: '', contents: Buffer.from(language.selfTest.code) }],
      ...(language.selfTest.stdin !== '' && { stdin: Buffer.from(language.selfTest.stdin) }),
    }),
    language,
    undefined,
  )

/** Its whole output, whatever the exit code: some print the version in their help and exit with 1. */
export const saidIn = ({ stages }: CommandResult): string =>
  stages.map(({ stdout, stderr }) => `${textOf(stdout)}\n${textOf(stderr)}`.trim()).join('\n')

export function versionIn(language: Language, output: string): string | undefined {
  const version = new RegExp(language.probe.pattern, 'm').exec(output)?.[1]
  return version !== undefined && /^[0-9A-Za-z][0-9A-Za-z.+~-]{0,49}$/.test(version) ? version : undefined
}

/** Describes why a self-test failed; undefined when it passed. */
export function selfTestProblem(language: Language, result: CommandResult): string | undefined {
  const last = result.stages.at(-1)
  if (last === undefined) return 'nothing was run'
  if (last.cause !== 'ok') return `${last.name}: ${endText(last)}`
  const printed = textOf(last.stdout)
  if (printed === language.selfTest.stdout) return undefined
  return `it printed ${shown(printed)} in place of ${shown(language.selfTest.stdout)}`
}

/** For a missing program nothing else is worth reporting. */
export const isAbsent = ({ stages }: CommandResult): boolean => stages.some(({ cause }) => cause === 'not-started')

function endText({ cause, exitCode, reason, stderr, stdout }: StageResult): string {
  const how = reason ?? (cause === 'exit' ? `exit code ${exitCode}` : cause)
  const words = textOf(stderr).trim() || textOf(stdout).trim()
  return words === '' || cause === 'not-started' ? how : `${how}: ${words.slice(-600)}`
}

const textOf = ({ inline }: StageResult['stdout']): string => Buffer.from(inline ?? new Uint8Array(0)).toString()

const shown = (text: string): string => JSON.stringify(text.slice(0, 200))
