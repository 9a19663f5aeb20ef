import type { Clock } from '../../base/clock.ts'
import type { LocalWorkerService } from '../../engine/workers/worker-service.ts'
import type { WorkerView } from '../../engine/workers/worker-session.ts'
import { chooseVersion, sortedVersions } from '../../languages/choose-version.ts'
import { findLanguage } from '../../languages/find-language.ts'
import { LANGUAGE_PROPERTY, type Language, type LanguageOffer, TESTING_PROPERTY } from '../../model/language.ts'
import type { SnippetRequest } from '../../model/snippet.ts'
import { SnippetRefusal } from './snippet-refusal.ts'

/** The versions of one language that live workers offer. */
export interface LiveOffer {
  /** The versions that workers report, unsorted. */
  readonly versions: readonly string[]
  /** The version of all workers; undefined when they differ, or one reports none. */
  readonly only: string | undefined
}

export interface LiveOffers {
  of(language: string): LiveOffer | undefined
  all(): ReadonlyMap<string, LiveOffer>
  /** Names of languages that a connected worker is still testing. */
  testing(): ReadonlySet<string>
}

interface FleetView {
  readonly offers: ReadonlyMap<string, LiveOffer>
  readonly testing: ReadonlySet<string>
}

/** How long a list of the workers is reused: building it visits all workers and leases. */
const FRESH_MS = 250
/** How often the list is read again for a language without an offer. */
const REFRESH_MS = 20

/** Workers that accept tasks now, when they finish a task, or when they reconnect. */
const isLive = ({ state, isCutOff }: WorkerView): boolean =>
  isCutOff === true || state === 'ONLINE' || state === 'BUSY' || state === 'DEGRADED'

export function liveOffers(workers: Pick<LocalWorkerService, 'list'>, clock: Clock): LiveOffers {
  let seen: FleetView = { offers: new Map(), testing: new Set() }
  let seenAt = Number.NEGATIVE_INFINITY
  const current = (freshMs = FRESH_MS): FleetView => {
    if (clock.monotonic() - seenAt < freshMs) return seen
    const live = workers.list().filter(isLive)
    seen = { offers: offersOf(live), testing: testingOf(live) }
    seenAt = clock.monotonic()
    return seen
  }
  return {
    all: () => current().offers,
    // A worker that has just connected must be visible: after a refusal, a client waits 30 seconds.
    of: (language) => current().offers.get(language) ?? current(REFRESH_MS).offers.get(language),
    testing: () => current(REFRESH_MS).testing,
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

/** The languages that live workers offer, sorted by name. */
export const languageOffers = (languages: readonly Language[], offers: LiveOffers): LanguageOffer[] =>
  languages
    .flatMap(({ name, title, aliases, fileName, compile }): LanguageOffer[] => {
      const offer = offers.all().get(name)
      if (offer === undefined) return []
      const versions = sortedVersions(offer.versions)
      return [{ name, title, aliases, fileName, compiled: compile !== undefined, versions }]
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1))

export interface LanguageChoice {
  readonly language: Language
  /** The version that the task requires; undefined when any worker with the language fits. */
  readonly pinned: string | undefined
  /** The version that the task will run with, as far as it is known. */
  readonly version: string | undefined
}

export interface ChoiceTools {
  readonly languages: readonly Language[]
  readonly offers: LiveOffers
  readonly awaited: { isAwaited(language: string): boolean }
}

/** Finds the language of a request and chooses a version; refuses a language that no live worker offers. */
export function chooseLanguage(request: SnippetRequest, { languages, offers, awaited }: ChoiceTools): LanguageChoice {
  const language = findLanguage(languages, request.language)
  if (language === undefined)
    throw new SnippetRefusal('language', `no language is called ${quoted(request.language)} here`)
  const { name } = language
  const offer = offers.of(name)
  const isAwaited = offer === undefined && awaited.isAwaited(name)
  // The scheduler keeps a task without a version in its queue until the worker that tests the language offers it.
  if (isAwaited && !requiresVersion(request)) return { language, pinned: undefined, version: undefined }
  if (offer === undefined)
    throw new SnippetRefusal(
      'no-worker',
      isAwaited ? `workers are still testing ${name}` : `no live worker has ${name}`,
    )
  if (!requiresVersion(request)) return { language, pinned: undefined, version: offer.only }
  const pinned = chooseVersion(request.version, offer.versions)
  if (pinned === undefined && request.version !== undefined) {
    const there =
      offer.versions.length === 0 ? 'its workers report no versions' : `available are ${offer.versions.join(', ')}`
    throw new SnippetRefusal('version', `no version of ${name} is ${quoted(request.version)}: ${there}`)
  }
  return { language, pinned, version: pinned }
}

/**
 * A task requires a version only when the request has one, or when the result is cached for others; else any worker
 * with the language fits, also one that reports no version.
 */
export const requiresVersion = ({ version, cacheable }: SnippetRequest): boolean => version !== undefined || cacheable

const quoted = (text: string): string => JSON.stringify(text.slice(0, 100))
