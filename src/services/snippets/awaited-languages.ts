import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import { chooseVersion } from '../../languages/choose-version.ts'
import { findLanguage } from '../../languages/find-language.ts'
import type { Language } from '../../model/language.ts'
import type { LiveOffers } from './live-offers.ts'

export interface AwaitedLanguagesOptions {
  readonly languages: readonly Language[]
  readonly offers: LiveOffers
  readonly clock: Clock
  /** How long a request waits for a worker that may offer its language (`no_worker_grace_seconds`). */
  readonly graceMs: number
  /** Whether a worker is about to connect whose languages are unknown, as in the first seconds of `windlass up`. */
  readonly isWorkerComing: () => boolean
}

export interface AwaitedLanguage {
  /** A name or an alias. */
  readonly language: string
  readonly version?: string | undefined
}

/** Languages that workers have not offered yet, but may within seconds: their self-test is under way. */
export interface AwaitedLanguages {
  isAwaited(language: string): boolean
  /** Names of all such languages. */
  awaited(): readonly string[]
  /**
   * Resolves when a worker offers the language, no worker tests it, the grace time is over, or the signal was aborted.
   */
  settled(wanted: AwaitedLanguage, signal?: AbortSignal): Promise<void>
}

/** Polled only by requests for languages under test. */
const LOOK_MS = 100

export function awaitedLanguages(options: AwaitedLanguagesOptions): AwaitedLanguages {
  const { languages, offers, clock, graceMs, isWorkerComing } = options
  const isAwaited = (language: string): boolean => {
    const name = findLanguage(languages, language)?.name
    return name !== undefined && (isWorkerComing() || offers.testing().has(name))
  }
  return {
    isAwaited,
    awaited: () => languages.map(({ name }) => name).filter(isAwaited),
    async settled(wanted, signal) {
      const end = clock.monotonic() + graceMs
      while (!isOffered(wanted, languages, offers) && isAwaited(wanted.language) && signal?.aborted !== true) {
        const leftMs = end - clock.monotonic()
        if (leftMs <= 0) return
        await new Promise<void>((resolve) => void clock.after(Math.min(LOOK_MS, leftMs), resolve))
      }
    },
  }
}

function isOffered(
  { language, version }: AwaitedLanguage,
  languages: readonly Language[],
  offers: LiveOffers,
): boolean {
  const offer = offers.of(findLanguage(languages, language)?.name ?? '')
  if (offer === undefined) return false
  try {
    return version === undefined || chooseVersion(version, offer.versions) !== undefined
  } catch (error) {
    if (error instanceof FaultError) return true // an invalid selector is refused at once
    throw error
  }
}
