import type { Clock } from '../../base/clock.ts'
import type { Language } from '../../model/language.ts'
import { atOnce } from '../rooms/pacing.ts'
import type { LanguageReport } from './language-report.ts'
import type { SelfTestResult, SelfTestResults } from './self-test-results.ts'
import { type LanguageTrial, testLanguage } from './test-language.ts'

export interface OfferedLanguagesOptions {
  readonly languages: readonly Language[]
  readonly trial: LanguageTrial
  readonly results: SelfTestResults
  /** A key for the state of its toolchain, found without starting a program; or why it is absent. */
  readonly markOf: (language: Language) => { readonly key: string } | { readonly absent: string }
  readonly clock: Clock
  /** Called with the report of each tested language. */
  readonly tested?: (report: LanguageReport) => void
}

export interface OfferedLanguages {
  /** The reports so far, in the order of the languages. */
  reports(): readonly LanguageReport[]
  /** Names of the installed languages whose result is not known yet. */
  testing(): readonly string[]
  /**
   * Tests the languages without a recorded result, then those that failed at an earlier start. Calls back within two
   * seconds of a result, at most once in two seconds, and when `testing` has become empty. Resolves when all are tested
   * or the signal was aborted.
   */
  test(changed: () => void, signal: AbortSignal): Promise<void>
}

const AT_ONCE = 2
const NOTIFY_EVERY_MS = 2000

interface Candidate {
  readonly language: Language
  readonly key: string
}

/** Languages with a recorded pass are offered at once, the others when they have passed. */
export function offeredLanguages(options: OfferedLanguagesOptions): OfferedLanguages {
  const { languages, clock } = options
  const { known, untested, failed } = sorted(options)
  const testing = new Set(untested.map(({ language }) => language.name))
  /** Whether `testing` or the languages that passed have changed. */
  const testOne = async ({ language, key }: Candidate, signal: AbortSignal): Promise<boolean> => {
    const report = await reportOn(language, options, signal)
    if (report === undefined) return false
    known.set(language.name, report)
    const wasTesting = testing.delete(language.name)
    options.tested?.(report)
    const result = resultOf(report)
    if (result !== undefined) options.results.remember(language.name, key, result)
    return wasTesting || report.outcome === 'passed'
  }
  return {
    reports: () => languages.flatMap(({ name }) => known.get(name) ?? []),
    testing: () => [...testing],
    async test(changed, signal) {
      const calls = spaced(changed, clock)
      for (const round of [untested.splice(0), failed.splice(0)])
        try {
          await atOnce(quickestFirst(round), AT_ONCE, async (candidate) => {
            if (!signal.aborted && (await testOne(candidate, signal))) calls.ask()
          })
        } finally {
          calls.flush()
        }
    },
  }
}

/**
 * Calls back at most once in NOTIFY_EVERY_MS. A timer delays a call that is too early: the next result may take half a
 * minute, and callers wait for the languages that have passed.
 */
function spaced(call: () => void, clock: Clock): { ask(): void; flush(): void } {
  let calledAt = clock.monotonic()
  let cancel: (() => void) | undefined
  const callNow = (): void => {
    cancel?.()
    cancel = undefined
    calledAt = clock.monotonic()
    call()
  }
  return {
    ask() {
      cancel ??= clock.after(Math.max(0, calledAt + NOTIFY_EVERY_MS - clock.monotonic()), callNow)
    },
    flush() {
      if (cancel !== undefined) callNow()
    },
  }
}

/** Sorts the languages by recorded results, without starting a program. */
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
    // A busy machine may have caused the failure, so the language is tested again after the untested ones.
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

/** Quick tests come first: those languages are also the most requested ones. */
const quickestFirst = (candidates: readonly Candidate[]): Candidate[] =>
  [...candidates].sort((one, other) => weight(one.language) - weight(other.language))

const weight = ({ compile }: Language): number => compile?.limits.wallMs ?? 0
