import type { Digest, DigestList } from '../base/digest.ts'
import { digestListOf, partOf } from '../base/digest-list.ts'
import { invalid } from '../base/fault.ts'
import { inTurns, turn } from '../base/in-turns.ts'
import { checkDirectory } from '../wire/hot/tree-check.ts'
import type { BlobStore } from './blob-store.ts'

/** Reads of many blobs that neither block the event loop for long nor use unlimited memory. */

/** Returns copies of the blobs; undefined for each absent blob. */
export async function readWhole(list: DigestList, blobs: BlobStore): Promise<(Uint8Array | undefined)[]> {
  const whole: (Uint8Array | undefined)[] = new Array(list.count).fill(undefined)
  if (list.count === 0) return whole
  await blobs.readMany(list, {
    found(index, bytes) {
      whole[index] = Uint8Array.from(bytes)
    },
    absent() {},
  })
  return whole
}

/** Digests that are looked up per turn of the event loop: about 3 ms of work. */
const MOST_LOOKED_UP = 16_384

/** Whether the store has every blob of the list. The query touches each blob. */
export function areHeld(list: DigestList, blobs: BlobStore): boolean | Promise<boolean> {
  if (list.count === 0) return true
  if (list.count > MOST_LOOKED_UP) return areHeldInTurns(list, blobs)
  const absent = new Uint8Array(list.count)
  const answered = blobs.missing(list, absent)
  return answered === undefined ? !absent.includes(1) : answered.then(() => !absent.includes(1))
}

/** Queries all parts, also after an absent blob: the query touches the blobs. */
async function areHeldInTurns(list: DigestList, blobs: BlobStore): Promise<boolean> {
  let held = true
  for (let at = 0; at < list.count; at += MOST_LOOKED_UP) {
    if (!(await areHeld(partOf(list, at, MOST_LOOKED_UP), blobs))) held = false
    await turn()
  }
  return held
}

/**
 * The most directories in a tree of Directory blobs. Any client may have uploaded the tree: reading it must end, must
 * not block the event loop for long, and must not use unlimited memory.
 */
export const MOST_DIRECTORIES = 200_000
/** A directory of 16 MiB has about 200,000 entries. */
const MOST_DIRECTORY_BYTES = 16 * 1024 * 1024
/** Directories that are read and parsed per turn of the event loop. */
const MOST_READ = { directories: 256, bytes: 128 * 1024 }

/**
 * Returns the next directories to read together: at least one; a large one is read alone. Throws `invalid` for a
 * directory above the limit.
 */
export function directoryGroup(waiting: readonly Digest[], from: number): Digest[] {
  const group: Digest[] = []
  let bytes = 0
  for (let at = from; at < waiting.length && group.length < MOST_READ.directories; at++) {
    const digest = waiting[at] as Digest
    if (digest.size > MOST_DIRECTORY_BYTES)
      throw invalid(
        `the directory ${digest.hash}/${digest.size} is larger than the limit of ${MOST_DIRECTORY_BYTES} bytes`,
      )
    bytes += digest.size
    if (group.length > 0 && bytes > MOST_READ.bytes) break
    group.push(digest)
  }
  return group
}

export interface DirectoryVisitor {
  /** Called with the bytes of a directory, which are valid only during the call. */
  found?(bytes: Uint8Array): void
  /** Called for an absent directory. Returns false to end the walk. */
  absent(): boolean
}

/** Visits Directory blobs from the roots down, each once. Throws `invalid` for a directory that no client can unpack. */
export async function walkDirectories(
  roots: readonly Digest[],
  blobs: Pick<BlobStore, 'readMany'>,
  visitor: DirectoryVisitor,
): Promise<void> {
  const [{ fn } = { fn: undefined }] = roots
  if (fn === undefined) return
  const seen = new Set<string>()
  const waiting: Digest[] = []
  const wait = (digest: Digest): void => {
    if (seen.has(digest.hash)) return
    if (seen.size >= MOST_DIRECTORIES) throw invalid(`a tree has more than ${MOST_DIRECTORIES} directories`, 'range')
    seen.add(digest.hash)
    waiting.push(digest)
  }
  roots.forEach(wait)
  let isWalking = true
  for (let at = 0; isWalking && at < waiting.length; ) {
    const group = directoryGroup(waiting, at)
    at += group.length
    const held: Uint8Array[] = []
    await blobs.readMany(digestListOf(fn, group), {
      // This must copy: checking one directory may take several turns of the event loop.
      found: (_, bytes) => void held.push(Uint8Array.from(bytes)),
      absent() {
        isWalking = visitor.absent() && isWalking
      },
    })
    for (const bytes of held) {
      for (const child of await inTurns(checkDirectory(bytes, fn))) wait(child)
      visitor.found?.(bytes)
    }
    await turn()
  }
}
