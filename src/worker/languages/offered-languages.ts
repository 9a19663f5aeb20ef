import type { Clock } from '../../base/clock.ts'
import type { Language } from '../../model/language.ts'
import { atOnce } from '../rooms/at-once.ts'
import type { LanguageReport } from './language-report.ts'
import type { SelfTestResult, SelfTestResults } from './self-test-results.ts'
import { type LanguageTrial, testLanguage } from './test-language.ts'

export interface OfferedLanguagesOptions {
  readonly languages: readonly Language[]
  readonly trial: LanguageTrial
  readonly results: SelfTestResults
  /** What tells its state on this machine from any other, without starting anything; or why it cannot be here. */
  readonly markOf: (language: Language) => { readonly key: string } | { readonly absent: string }
  readonly clock: Clock
  /** Called with the report of each tested language. */
  readonly told?: (report: LanguageReport) => void
}

export interface OfferedLanguages {
  /** As far as is known now; sorted as the languages came. */
  reports(): readonly LanguageReport[]
  /** Names of the languages that are here and whose result is not known yet. */
  testing(): readonly string[]
  /**
   * Tests those whose result is not known, then again those that failed at an earlier start. Calls back when more of
   * them pass, but not for each: a few at a time, and once when `testing` has become empty. Resolves when all are
   * tested, or the signal was aborted.
   */
  test(changed: () => void, signal: AbortSignal): Promise<void>
}

const AT_ONCE = 2
const TOLD_EVERY_MS = 2000

interface Candidate {
  readonly language: Language
  readonly key: string
}

/** Results of earlier starts count from the start; the other languages are offered when they have passed. */
export function offeredLanguages(options: OfferedLanguagesOptions): OfferedLanguages {
  const { languages, clock } = options
  const { known, untested, failed } = sorted(options)
  const testing = new Set(untested.map(({ language }) => language.name))
  const testOne = async ({ language, key }: Candidate, signal: AbortSignal): Promise<boolean> => {
    const report = await reportOn(language, options, signal)
    if (report === undefined) return false
    known.set(language.name, report)
    testing.delete(language.name)
    options.told?.(report)
    const result = resultOf(report)
    if (result !== undefined) options.results.remember(language.name, key, result)
    return report.outcome === 'passed'
  }
  return {
    reports: () => languages.flatMap(({ name }) => known.get(name) ?? []),
    testing: () => [...testing],
    async test(changed, signal) {
      let untold = false
      let toldAt = clock.monotonic()
      const tell = (): void => {
        untold = false
        toldAt = clock.monotonic()
        changed()
      }
      for (const round of [untested.splice(0), failed.splice(0)]) {
        const wasTesting = testing.size > 0
        await atOnce(quickestFirst(round), AT_ONCE, async (candidate) => {
          if (signal.aborted || !(await testOne(candidate, signal))) return
          untold = true
          if (clock.monotonic() - toldAt >= TOLD_EVERY_MS) tell()
        })
        if (untold || (wasTesting && !signal.aborted)) tell()
      }
    },
  }
}

/** Without starting anything: what is known of each language, and what remains to be tested. */
function sorted({ languages, markOf, results }: OfferedLanguagesOptions) {
  const known = new Map<string, LanguageReport>()
  const untested: Candidate[] = []
  const failed: Candidate[] = []
  for (const language of languages) {
    const mark = markOf(language)
    const { name } = language
    if ('absent' in mark) {
      known.set(name, { ...UNTESTED, name, outcome: 'absent', what: mark.absent })
      continue
    }
    const result = results.recall(mark.key)
    if (result === undefined) untested.push({ language, key: mark.key })
    else known.set(name, { ...UNTESTED, name, ...result })
    // A busy machine may have been the cause, so that it is tried again when nothing waits for it.
    if (result !== undefined && result.outcome !== 'passed') failed.push({ language, key: mark.key })
  }
  return { known, untested, failed }
}

const UNTESTED = { version: undefined, what: undefined, tookMs: undefined } as const

/** Undefined when the signal was aborted meanwhile. */
const reportOn = (
  language: Language,
  { trial }: OfferedLanguagesOptions,
  signal: AbortSignal,
): Promise<LanguageReport | undefined> =>
  testLanguage(language, trial, signal).catch((error: unknown) => {
    if (signal.aborted) return undefined
    throw error
  })

function resultOf({ outcome, version, what }: LanguageReport): SelfTestResult | undefined {
  if (outcome !== 'passed') return { outcome, what: what ?? '' }
  return version === undefined ? undefined : { outcome, version }
}

/** What is quick to test is also what most callers ask for. */
const quickestFirst = (candidates: readonly Candidate[]): Candidate[] =>
  [...candidates].sort((one, other) => weight(one.language) - weight(other.language))

const weight = ({ compile }: Language): number => compile?.limits.wallMs ?? 0
