import { digestListOf } from '../../base/digest-list.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import type { BlobTarget, OutputBlob } from '../outputs/blob-target.ts'
import { atOnce } from '../rooms/at-once.ts'

/** Blobs up to this length travel together. */
const SMALL_BYTES = 256 * 1024
const PARCEL_BYTES = 2 * 1024 * 1024
const AT_ONCE = 4
/** So little is sent without asking: the question costs more than what it could save. */
const UNASKED_BYTES = 4096

/** Stores what a server elsewhere does not have: one question for all of it, unless it is tiny, then few and large messages. */
export const remoteTarget = (store: BlobStore): BlobTarget => ({
  async store(blobs, signal) {
    const [first] = blobs
    if (first === undefined) return
    const list = digestListOf(
      first.digest.fn,
      blobs.map(({ digest }) => digest),
    )
    const absent = Uint8Array.from(blobs, ({ digest }) => (digest.size === 0 ? 0 : 1)) // everybody has the empty one
    const bytes = blobs.reduce((sum, { digest }) => sum + digest.size, 0)
    if (bytes > UNASKED_BYTES) await store.missing(list, absent)
    await atOnce(parcelsOf(blobs.filter((_, i) => absent[i] === 1)), AT_ONCE, async (parcel) => {
      signal.throwIfAborted()
      await send(store, parcel, signal)
    })
  },
})

/** Small ones together, each large one by itself. */
function parcelsOf(blobs: readonly OutputBlob[]): OutputBlob[][] {
  const parcels: OutputBlob[][] = []
  let small: OutputBlob[] = []
  let bytes = 0
  for (const blob of blobs) {
    const { size } = blob.digest
    if (size > SMALL_BYTES) {
      parcels.push([blob])
      continue
    }
    if (small.length === 0 || bytes + size > PARCEL_BYTES) {
      small = []
      bytes = 0
      parcels.push(small)
    }
    small.push(blob)
    bytes += size
  }
  return parcels
}

async function send(store: BlobStore, parcel: readonly OutputBlob[], signal: AbortSignal): Promise<void> {
  const [first] = parcel
  if (first === undefined) return
  if (first.digest.size > SMALL_BYTES) return await stream(store, first, signal)
  const list = digestListOf(
    first.digest.fn,
    parcel.map(({ digest }) => digest),
  )
  await store.writeMany(list, await Promise.all(parcel.map((blob) => blob.whole())))
}

async function stream(store: BlobStore, blob: OutputBlob, signal: AbortSignal): Promise<void> {
  const writer = store.write(blob.digest, 'identity')
  try {
    for await (const piece of blob.pieces()) {
      signal.throwIfAborted()
      await writer.write(piece)
    }
    await writer.commit()
  } finally {
    writer.abort()
  }
}
