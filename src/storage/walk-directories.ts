import type { Digest } from '../base/digest.ts'
import { digestListOf } from '../base/digest-list.ts'
import { invalid } from '../base/fault.ts'
import { inTurns, turn } from '../base/in-turns.ts'
import { checkDirectory } from '../wire/hot/tree-check.ts'
import type { BlobStore } from './blob-store.ts'
import { directoryGroup, MOST_DIRECTORIES } from './directory-groups.ts'

export interface DirectoryVisitor {
  /** The bytes are valid during the call only. */
  found?(bytes: Uint8Array): void
  /** False ends the walk. */
  absent(): boolean
}

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
    const group = directoryGroup(waiting, at)
    at += group.length
    const held: Uint8Array[] = []
    await blobs.readMany(digestListOf(fn, group), {
      // A copy: checking one directory may take several turns of the event loop.
      found: (_, bytes) => void held.push(Uint8Array.from(bytes)),
      absent() {
        goesOn = visitor.absent() && goesOn
      },
    })
    for (const bytes of held) {
      for (const child of await inTurns(checkDirectory(bytes, fn))) wait(child)
      visitor.found?.(bytes)
    }
    await turn()
  }
}
