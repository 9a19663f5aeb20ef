import type { Clock } from '../../base/clock.ts'
import type { Digest, DigestList } from '../../base/digest.ts'
import { digestAt, digestListOf, partOf } from '../../base/digest-list.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import { eachInTurns, turn } from '../../base/in-turns.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { directoryGroup } from '../../storage/read-blobs.ts'
import { References } from '../../wire/hot/digest-reader.ts'

/** Limits of an input tree. Any client may have uploaded it, and reading it must end. */
export interface InputTreeLimits {
  readonly maxDirectories: number
  readonly maxFiles: number
}

interface InputCheck {
  readonly blobs: BlobStore
  readonly limits: InputTreeLimits
  /** When set, directories that were complete a few seconds ago are not checked again. */
  readonly recent?: RecentTrees
  /** When set, the check ends when this call is cancelled or reaches its deadline. */
  readonly call?: { readonly cancelled: boolean }
}

/** Files that are looked up per turn of the event loop: about 3 ms of work. */
const MOST_LOOKED_UP = 16_384
/** The check ends after this many missing blobs: a client uploads those first and then retries. */
const MOST_REPORTED = 10_000

/**
 * The blobs that the store lacks, among `others` and the input tree from its root down. The query touches the blobs
 * that exist, so that they are not evicted before the task has read them. The content of a missing directory is
 * unknown.
 */
export async function missingInputs(
  others: readonly Digest[],
  root: Digest,
  { blobs, limits, recent, call }: InputCheck,
): Promise<Digest[]> {
  const found = new Map<string, Digest>()
  const known = new Set([nameOf(root)])
  const waiting: Digest[] = recent?.has(nameOf(root)) ? [] : [root]
  const wait = (child: Digest): void => {
    const name = nameOf(child)
    if (known.has(name) || recent?.has(name)) return
    if (known.size >= limits.maxDirectories) throw tooLarge(`${limits.maxDirectories} directories`)
    known.add(name)
    waiting.push(child)
  }
  let files = 0
  if (others.length > 0) await noteAbsent(digestListOf(root.fn, others), blobs, found)
  for (let at = 0; at < waiting.length && found.size < MOST_REPORTED; ) {
    if (call?.cancelled === true) throw callEnded()
    const group = directoryGroup(waiting, at)
    at += group.length
    const references = await readDirectories(group, blobs, found)
    const below = references.fileDigests()
    files += below.count
    if (files > limits.maxFiles) throw tooLarge(`${limits.maxFiles} files`)
    await noteAbsent(below, blobs, found)
    await eachInTurns(references.directoryDigests(), wait)
    if (at < waiting.length) await turn()
  }
  if (found.size === 0) recent?.add(known)
  return [...found.values()].slice(0, MOST_REPORTED)
}

const nameOf = ({ fn, hash, size }: Digest): string => `${fn}/${hash}/${size}`

const tooLarge = (what: string) => invalid(`the input tree has more than ${what}`)

const callEnded = () =>
  new FaultError({ kind: 'cancelled', what: 'the call ended before its input tree was read completely' })

async function readDirectories(
  digests: readonly Digest[],
  blobs: BlobStore,
  found: Map<string, Digest>,
): Promise<References> {
  const [first] = digests as [Digest]
  const references = new References(first.fn)
  await blobs.readMany(digestListOf(first.fn, digests), {
    found: (_, bytes) => references.addDirectory(bytes),
    absent(index) {
      const digest = digests[index] as Digest
      found.set(nameOf(digest), digest)
    },
  })
  return references
}

async function noteAbsent(list: DigestList, blobs: BlobStore, found: Map<string, Digest>): Promise<void> {
  for (let at = 0; at < list.count; at += MOST_LOOKED_UP) {
    if (at > 0) await turn()
    const part = partOf(list, at, MOST_LOOKED_UP)
    const absent = new Uint8Array(part.count)
    await blobs.missing(part, absent)
    for (
      let index = absent.indexOf(1);
      index >= 0 && found.size < MOST_REPORTED;
      index = absent.indexOf(1, index + 1)
    ) {
      const digest = digestAt(part, index)
      found.set(nameOf(digest), digest)
    }
  }
}

/**
 * Directories that were complete a few seconds ago, with all their descendants. The actions of a build share most of
 * their inputs, and checking those again for every action would cost more than the rest of its processing. The check
 * also touched them, so they are not evicted soon. If one is evicted anyway, the worker reports it and the client gets
 * the same error, only later.
 */
export interface RecentTrees {
  has(directory: string): boolean
  add(directories: Iterable<string>): void
  /** Removes all directories, after a blob turned out to be missing. */
  clear(): void
}

/** A directory is remembered for at most twice this time. */
const GENERATION_MS = 5000
const MOST_REMEMBERED = 50_000

function recentTrees(clock: Clock): RecentTrees {
  let young = new Set<string>()
  let old = new Set<string>()
  let since = clock.monotonic()
  const dropOld = (): void => {
    const passed = clock.monotonic() - since
    if (passed < GENERATION_MS) return
    old = passed < 2 * GENERATION_MS ? young : new Set()
    young = new Set()
    since = clock.monotonic()
  }
  return {
    has(directory) {
      dropOld()
      return young.has(directory) || old.has(directory)
    },
    add(directories) {
      dropOld()
      for (const directory of directories) {
        if (young.size >= MOST_REMEMBERED) return
        young.add(directory)
      }
    },
    clear() {
      young.clear()
      old.clear()
    },
  }
}

/** One set per store. */
export function recentTreesOf(clock: Clock): (blobs: BlobStore) => RecentTrees {
  const byStore = new WeakMap<BlobStore, RecentTrees>()
  return (blobs) => {
    const known = byStore.get(blobs) ?? recentTrees(clock)
    byStore.set(blobs, known)
    return known
  }
}
