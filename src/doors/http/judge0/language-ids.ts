import { crc32 } from 'node:zlib'
import type { LanguageOffer } from '../../../model/language.ts'

/**
 * Judge0's language ids. The first id is listed; it is the id in the community edition's release. The other ids are
 * those of Judge0's public server, which has several versions of some languages: a request with one of them gets the
 * version that is installed here.
 */
const IDS: Readonly<Record<string, readonly [number, ...number[]]>> = {
  bash: [46],
  c: [50, 48, 49, 103],
  'c#': [51],
  'c++': [54, 52, 53, 105],
  fortran: [59],
  go: [60, 95, 106, 107],
  haskell: [61],
  java: [62, 91],
  javascript: [63, 93, 97, 102],
  kotlin: [78, 111],
  lua: [64],
  octave: [66],
  pascal: [67],
  perl: [85],
  php: [68, 98],
  python: [71, 92, 100, 109, 113],
  r: [80, 99],
  ruby: [72],
  rust: [73, 108],
  scala: [81, 112],
  sql: [82],
  typescript: [74, 94, 101],
  // These languages are not in Judge0. The numbers are far from Judge0's own.
  awk: [1001],
  quickjs: [1002],
  'python-data': [1003],
}

/** Several files with scripts of their own to compile and run them. */
export const PROJECT_ID = 89
/** The two scripts of a multi-file program. */
const PROJECT_LANGUAGE = 'bash'
const PROJECT_NAME = 'Multi-file program'

/**
 * Languages that Judge0 does not have get a number computed from their name, so that it is the same on every server.
 */
export const idsOf = (name: string): readonly [number, ...number[]] =>
  Object.hasOwn(IDS, name) ? (IDS[name] as [number]) : [1_000_000 + (crc32(name) % 1_000_000_000)]

export const idOf = (name: string): number => idsOf(name)[0]

/** Returns the name of the language with this number, even if no worker offers it; undefined when there is none. */
export function languageWithId(id: number, offers: readonly LanguageOffer[]): string | undefined {
  if (id === PROJECT_ID) return PROJECT_LANGUAGE
  const known = Object.entries(IDS).find(([, ids]) => ids.includes(id))
  return known?.[0] ?? offers.find(({ name }) => idOf(name) === id)?.name
}

export interface ListedLanguage {
  readonly id: number
  readonly name: string
  readonly is_archived: boolean
  readonly source_file: string | null
  /** Always null: the worker determines the command. */
  readonly compile_cmd: null
  readonly run_cmd: null
}

/**
 * Lists the languages that workers offer now, under every number that Judge0's releases use for them. Clients such as
 * its SDK look up their number in this list before they send a submission.
 */
export function listedLanguages(offers: readonly LanguageOffer[]): ListedLanguage[] {
  const listed = offers.flatMap((offer) => idsOf(offer.name).map((id) => listing(id, titleOf(offer), offer.fileName)))
  const hasProjects = offers.some(({ name }) => name === PROJECT_LANGUAGE)
  return [...listed, ...(hasProjects ? [listing(PROJECT_ID, PROJECT_NAME, null)] : [])].sort((a, b) => a.id - b.id)
}

export function languageNameOf(id: number, offers: readonly LanguageOffer[]): string {
  if (id === PROJECT_ID) return PROJECT_NAME
  const name = languageWithId(id, offers)
  const offer = offers.find((each) => each.name === name)
  return offer === undefined ? (name ?? 'unknown') : titleOf(offer)
}

const listing = (id: number, name: string, fileName: string | null): ListedLanguage => ({
  id,
  name,
  is_archived: false,
  source_file: fileName,
  compile_cmd: null,
  run_cmd: null,
})

const titleOf = ({ title, versions: [newest] }: LanguageOffer): string =>
  newest === undefined ? title : `${title} (${newest})`
