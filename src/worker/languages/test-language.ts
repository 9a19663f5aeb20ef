import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import {
  isAbsent,
  saidIn,
  selfTestProblem,
  selfTestTask,
  versionIn,
  versionTask,
} from '../../languages/self-test-task.ts'
import type { CommandResult, CommandTask } from '../../model/command-task.ts'
import type { IsolationLevel } from '../../model/isolation.ts'
import type { Language } from '../../model/language.ts'
import type { LanguageReport } from './language-report.ts'

/** Runs tasks in the same rooms as snippets. */
export interface LanguageTrial {
  run(task: CommandTask, signal: AbortSignal): Promise<CommandResult>
  readonly clock: Pick<Clock, 'monotonic'>
  /** The minimum isolation that snippets require. */
  readonly isolation: IsolationLevel
}

/** Finds the version of a language, and runs its self-test. Throws only when the signal was aborted. */
export async function testLanguage(
  language: Language,
  { run, clock, isolation }: LanguageTrial,
  signal: AbortSignal,
): Promise<LanguageReport> {
  const { name } = language
  const startedAt = clock.monotonic()
  let version: string | undefined
  const report = (outcome: LanguageReport['outcome'], what?: string): LanguageReport => ({
    ...{ name, outcome, version, what },
    tookMs: Math.round(clock.monotonic() - startedAt),
  })
  try {
    const said = await run(versionTask(language, isolation), signal)
    if (isAbsent(said)) return report('absent', said.stages.at(-1)?.reason)
    version = versionIn(language, saidIn(said))
    if (version === undefined)
      return report('failed', `its version is not in ${JSON.stringify(saidIn(said).slice(0, 200))}`)
    const tested = await run(selfTestTask(language, isolation), signal)
    const problem = selfTestProblem(language, tested)
    if (problem === undefined) return report('passed')
    return report(isAbsent(tested) ? 'absent' : 'failed', problem)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof FaultError) return report('failed', error.message)
    throw error
  }
}
