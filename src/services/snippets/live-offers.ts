import type { Clock } from '../../base/clock.ts'
import type { LocalWorkerService } from '../../engine/worker-calls/worker-service.ts'
import type { WorkerView } from '../../engine/workers/worker-session.ts'
import { sortedVersions } from '../../languages/choose-version.ts'
import { LANGUAGE_PROPERTY, type Language, type LanguageOffer, TESTING_PROPERTY } from '../../model/language.ts'

/** The versions of one language that live workers offer. */
export interface LiveOffer {
  /** As they say them, in no order. */
  readonly versions: readonly string[]
  /** Every one of them has this version; undefined when they differ, or one does not say. */
  readonly only: string | undefined
}

export interface LiveOffers {
  of(language: string): LiveOffer | undefined
  all(): ReadonlyMap<string, LiveOffer>
  /** Names of languages that a connected worker is still testing. */
  testing(): ReadonlySet<string>
}

interface Look {
  readonly offers: ReadonlyMap<string, LiveOffer>
  readonly testing: ReadonlySet<string>
}

/** How long one look at the fleet serves: a look goes over all workers and leases. */
const FRESH_MS = 250
/** How often the list is read again for a language without an offer. */
const LOOK_AGAIN_MS = 20

/** Those that take work now, or will when they have done what they have, or are expected back. */
const isLive = ({ state, isCutOff }: WorkerView): boolean =>
  isCutOff === true || state === 'ONLINE' || state === 'BUSY' || state === 'DEGRADED'

export function liveOffers(workers: Pick<LocalWorkerService, 'list'>, clock: Clock): LiveOffers {
  let seen: Look = { offers: new Map(), testing: new Set() }
  let seenAt = Number.NEGATIVE_INFINITY
  const look = (freshMs = FRESH_MS): Look => {
    if (clock.monotonic() - seenAt < freshMs) return seen
    const live = workers.list().filter(isLive)
    seen = { offers: offersOf(live), testing: testingOf(live) }
    seenAt = clock.monotonic()
    return seen
  }
  return {
    all: () => look().offers,
    // A worker that came just now must not be overlooked: a refusal costs its caller half a minute.
    of: (language) => look().offers.get(language) ?? look(LOOK_AGAIN_MS).offers.get(language),
    testing: () => look(LOOK_AGAIN_MS).testing,
  }
}

const testingOf = (workers: readonly WorkerView[]): Set<string> =>
  new Set(
    workers.flatMap(({ properties }) =>
      properties.flatMap(({ name, value }) => (name === TESTING_PROPERTY ? [value] : [])),
    ),
  )

function offersOf(workers: readonly WorkerView[]): Map<string, LiveOffer> {
  const found = new Map<string, { workers: number; versions: Map<string, number> }>()
  for (const { properties } of workers) {
    for (const [name, versions] of languagesOf(properties)) {
      const offer = found.get(name) ?? { workers: 0, versions: new Map<string, number>() }
      found.set(name, offer)
      offer.workers++
      for (const version of versions) offer.versions.set(version, (offer.versions.get(version) ?? 0) + 1)
    }
  }
  const offers = new Map<string, LiveOffer>()
  for (const [name, { workers, versions }] of found) {
    const [only, ...more] = [...versions.keys()]
    const isSame = only !== undefined && more.length === 0 && versions.get(only) === workers
    offers.set(name, { versions: [...versions.keys()], only: isSame ? only : undefined })
  }
  return offers
}

function languagesOf(properties: WorkerView['properties']): Map<string, Set<string>> {
  const languages = new Map<string, Set<string>>()
  for (const { name, value } of properties) {
    if (name !== LANGUAGE_PROPERTY) continue
    const at = value.indexOf('@')
    const language = at < 0 ? value : value.slice(0, at)
    const versions = languages.get(language) ?? new Set<string>()
    languages.set(language, versions)
    if (at >= 0) versions.add(value.slice(at + 1))
  }
  return languages
}

/** The languages on offer, for a choice. */
export const languageOffers = (languages: readonly Language[], offers: LiveOffers): LanguageOffer[] =>
  languages
    .flatMap(({ name, title, aliases, fileName, compile }): LanguageOffer[] => {
      const offer = offers.all().get(name)
      if (offer === undefined) return []
      const versions = sortedVersions(offer.versions)
      return [{ name, title, aliases, fileName, compiled: compile !== undefined, versions }]
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
