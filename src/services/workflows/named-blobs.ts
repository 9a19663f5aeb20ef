import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import { turn } from '../../base/in-turns.ts'
import type { Stager } from '../../stagers/stager.ts'
import type { TreeStore } from '../../stagers/tree-store.ts'
import { isData } from '../../workflow/values/file-value.ts'
import { isList, isRecord, type Value } from '../../workflow/values/value.ts'

export interface NamedBlobs {
  readonly held: readonly Digest[]
  readonly missing: readonly Digest[]
}

type LocationReader = Pick<Stager, 'named'>

/** A value with more blobs is an error, and would exhaust the memory. */
const MOST_BLOBS = 1_000_000

/** Blobs that are looked up between two pauses, in which other calls run. */
const AT_A_TIME = 64

/** Every blob that the files and directories in a value consist of, directories included. */
export async function blobsNamedBy(
  value: Value,
  { trees, stager }: { readonly trees: TreeStore; readonly stager: LocationReader },
): Promise<NamedBlobs> {
  const held = new Map<string, Digest>()
  const missing = new Map<string, Digest>()
  let lookups = 0
  const isNew = (digest: Digest): boolean => {
    if (held.size > MOST_BLOBS) throw invalid(`more than ${MOST_BLOBS} files and directories are named`, 'range')
    return !held.has(formatDigest(digest)) && !missing.has(formatDigest(digest))
  }
  const addFile = async (digest: Digest): Promise<void> => {
    if (!isNew(digest)) return
    if (++lookups % AT_A_TIME === 0) await turn()
    ;((await trees.has(digest)) ? held : missing).set(formatDigest(digest), digest)
  }
  const addTree = async (digest: Digest): Promise<void> => {
    if (!isNew(digest)) return
    if (++lookups % AT_A_TIME === 0) await turn()
    const directory = await trees.directory(digest)
    ;(directory === undefined ? missing : held).set(formatDigest(digest), digest)
    for (const file of directory?.files ?? []) await addFile(file.digest)
    for (const below of directory?.directories ?? []) await addTree(below.digest)
  }
  for (const location of locationsIn(value)) {
    const named = stager.named(location)
    if (named?.kind === 'file') await addFile(named.digest)
    else if (named !== undefined) await addTree(named.digest)
  }
  return { held: [...held.values()], missing: [...missing.values()] }
}

/** Returns only the blobs that locations name directly. */
export const digestsIn = (value: Value, stager: LocationReader): readonly Digest[] =>
  locationsIn(value).flatMap((location) => stager.named(location)?.digest ?? [])

/** Returns only the files, without directories. */
export const filesIn = (value: Value, stager: LocationReader): readonly Digest[] =>
  locationsIn(value).flatMap((location) => {
    const named = stager.named(location)
    return named?.kind === 'file' ? [named.digest] : []
  })

function locationsIn(value: Value): readonly string[] {
  if (isList(value)) return value.flatMap(locationsIn)
  if (!isRecord(value)) return []
  const own = isData(value) && typeof value.location === 'string' ? [value.location] : []
  return [...own, ...Object.values(value).flatMap(locationsIn)]
}
