import { FaultError } from '../../../base/fault.ts'
import { chooseVersion } from '../../../languages/choose-version.ts'
import { findLanguage } from '../../../languages/find-language.ts'
import type { LanguageOffer } from '../../../model/language.ts'

/** A language in one version, under Piston's name. */
export interface PistonRuntime {
  readonly language: string
  readonly version: string
  readonly aliases: readonly string[]
  /** The runtime, where its name differs from the language. */
  readonly runtime?: string
}

export interface FoundRuntime extends PistonRuntime {
  readonly offer: LanguageOffer
  /** The version to request; undefined when workers do not report versions. */
  readonly wanted: string | undefined
}

/** Languages whose name in Piston differs from ours. Piston's name is one of our aliases. */
const NAMES: Readonly<Record<string, string>> = { 'c#': 'csharp', r: 'rscript', sql: 'sqlite3' }
const RUNTIMES: Readonly<Record<string, string>> = {
  javascript: 'node',
  c: 'gcc',
  'c++': 'gcc',
  fortran: 'gcc',
  'c#': 'mono',
}
/** The version for workers that report none: clients require one, and send it back. */
const NO_VERSION = '0.0.0'

const versionsOf = ({ versions }: LanguageOffer): readonly string[] => (versions.length > 0 ? versions : [NO_VERSION])

export const pistonRuntimes = (offers: readonly LanguageOffer[]): PistonRuntime[] =>
  offers.flatMap((offer) => versionsOf(offer).map((version) => runtimeOf(offer, version)))

function runtimeOf({ name, aliases }: LanguageOffer, version: string): PistonRuntime {
  const language = NAMES[name] ?? name
  const runtime = RUNTIMES[name]
  return {
    language,
    version,
    aliases: [name, ...aliases].filter((each) => each !== language),
    ...(runtime !== undefined && { runtime }),
  }
}

/** Returns the newest version that a selector matches; an invalid selector matches none. */
export function findRuntime(
  offers: readonly LanguageOffer[],
  language: string,
  selector: string,
): FoundRuntime | undefined {
  const offer = findLanguage(offers, language)
  const version = offer && chosen(selector, versionsOf(offer))
  if (offer === undefined || version === undefined) return undefined
  return { ...runtimeOf(offer, version), offer, wanted: offer.versions.length > 0 ? version : undefined }
}

function chosen(selector: string, versions: readonly string[]): string | undefined {
  try {
    return chooseVersion(selector, versions)
  } catch (error) {
    if (error instanceof FaultError) return undefined
    throw error
  }
}
