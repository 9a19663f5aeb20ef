import type { Clock } from '../../base/clock.ts'
import type { Language } from '../../model/language.ts'
import { atOnce } from '../at-once.ts'
import type { LanguageReport } from './language-report.ts'
import type { PassedTests } from './passed-tests.ts'
import { type LanguageTrial, testLanguage } from './test-language.ts'

export interface OfferedLanguagesOptions {
  readonly languages: readonly Language[]
  readonly trial: LanguageTrial
  readonly passed: PassedTests
  /** What tells its state on this machine from any other, without starting anything; or why it cannot be here. */
  readonly markOf: (language: Language) => { readonly key: string } | { readonly absent: string }
  readonly clock: Clock
  /** Of each that was tested. */
  readonly told?: (report: LanguageReport) => void
}

export interface OfferedLanguages {
  /** As far as is known now; sorted as the languages came. */
  reports(): readonly LanguageReport[]
  /**
   * Tests those of which nothing is known yet. Calls back when more of them pass, but not for each: a few at a time, and
   * once at the end. Resolves when all are tested, or the signal was aborted.
   */
  test(more: () => void, signal: AbortSignal): Promise<void>
}

const AT_ONCE = 2
const TOLD_EVERY_MS = 2000

/** What is remembered to pass is offered from the start; the rest when it has. */
export function offeredLanguages(options: OfferedLanguagesOptions): OfferedLanguages {
  const { languages, trial, passed, markOf, clock, told } = options
  const known = new Map<string, LanguageReport>()
  const untested: { readonly language: Language; readonly key: string }[] = []
  for (const language of languages) {
    const mark = markOf(language)
    const { name } = language
    if ('absent' in mark) {
      known.set(name, { name, outcome: 'absent', version: undefined, what: mark.absent, tookMs: undefined })
      continue
    }
    const version = passed.recall(mark.key)
    if (version === undefined) untested.push({ language, key: mark.key })
    else known.set(name, { name, outcome: 'passed', version, what: undefined, tookMs: undefined })
  }
  return {
    reports: () => languages.flatMap(({ name }) => known.get(name) ?? []),
    async test(more, signal) {
      let untold = false
      let toldAt = clock.monotonic()
      const tell = (): void => {
        untold = false
        toldAt = clock.monotonic()
        more()
      }
      // What is quick to test comes first: it is what most ask for, too.
      const order = untested.splice(0).sort((one, other) => weight(one.language) - weight(other.language))
      await atOnce(order, AT_ONCE, async ({ language, key }) => {
        if (signal.aborted) return
        const report = await testLanguage(language, trial, signal).catch((error: unknown) => {
          if (signal.aborted) return undefined
          throw error
        })
        if (report === undefined) return
        known.set(language.name, report)
        told?.(report)
        if (report.outcome !== 'passed') return
        if (report.version !== undefined) passed.remember(language.name, { key, version: report.version })
        untold = true
        if (clock.monotonic() - toldAt >= TOLD_EVERY_MS) tell()
      })
      if (untold) tell()
    },
  }
}

const weight = ({ compile }: Language): number => compile?.limits.wallMs ?? 0
