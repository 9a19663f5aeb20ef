import type { Digest } from '../base/digest.ts'
import { digestListOf } from '../base/digest-list.ts'
import { invalid } from '../base/fault.ts'
import { checkDirectory } from '../wire/hot/tree-check.ts'
import type { BlobStore } from './blob-store.ts'

export interface DirectoryVisitor {
  /** The bytes are valid during the call only. */
  found?(bytes: Uint8Array): void
  /** False ends the walk. */
  absent(): boolean
}

/** Directories are read in groups of this many; other calls have their turn in between. */
const AT_A_TIME = 256
/** As many as the inputs of an action may have. */
const MOST_DIRECTORIES = 200_000

/** Visits Directory blobs from the roots down, each once. Throws `invalid` for one that no client could unpack. */
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
  let goesOn = true
  for (let at = 0; goesOn && at < waiting.length; ) {
    const group = waiting.slice(at, at + AT_A_TIME)
    at += group.length
    await blobs.readMany(digestListOf(fn, group), {
      found(_, bytes) {
        for (const child of checkDirectory(bytes, fn)) wait(child)
        visitor.found?.(bytes)
      },
      absent() {
        goesOn = visitor.absent() && goesOn
      },
    })
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}
