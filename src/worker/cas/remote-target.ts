import type { DigestList } from '../../base/digest.ts'
import { digestListOf } from '../../base/digest-list.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import type { BlobTarget, OutputBlob } from '../outputs/blob-target.ts'
import { atOnce } from '../rooms/pacing.ts'

/** Blobs up to this length are sent together. */
const SMALL_BYTES = 256 * 1024
const BATCH_BYTES = 2 * 1024 * 1024
const AT_ONCE = 4
/** Up to this total, blobs are sent without a query for missing ones: the query costs more than it saves. */
const UNCHECKED_BYTES = 4096

/**
 * Uploads the blobs that a remote store lacks: one query for all of them, then few large messages. Up to
 * `UNCHECKED_BYTES` it skips the query.
 */
export const remoteTarget = (store: BlobStore): BlobTarget => ({
  async store(blobs, signal) {
    signal.throwIfAborted()
    const bytes = blobs.reduce((sum, { digest }) => sum + digest.size, 0)
    if (bytes <= UNCHECKED_BYTES) return await sendTogether(store, blobs.filter(isFilled))
    const absent = new Uint8Array(blobs.length).fill(1)
    await store.missing(listOf(blobs), absent)
    await atOnce(batchesOf(blobs.filter((_, i) => absent[i] === 1)), AT_ONCE, async (batch) => {
      signal.throwIfAborted()
      const [first] = batch
      if (first !== undefined && first.digest.size > SMALL_BYTES) await stream(store, first, signal)
      else await sendTogether(store, batch)
    })
  },
})

/** Every store has the empty blob. */
const isFilled = ({ digest }: OutputBlob): boolean => digest.size > 0

/** All blobs of one attempt have the same digest function. */
const listOf = (blobs: readonly OutputBlob[]): DigestList =>
  digestListOf(
    blobs[0]?.digest.fn ?? 'sha256',
    blobs.map(({ digest }) => digest),
  )

/** Puts small blobs into shared batches, and each large blob into its own batch. */
function batchesOf(blobs: readonly OutputBlob[]): OutputBlob[][] {
  const batches: OutputBlob[][] = []
  let small: OutputBlob[] = []
  let bytes = 0
  for (const blob of blobs) {
    const { size } = blob.digest
    if (size > SMALL_BYTES) {
      batches.push([blob])
      continue
    }
    if (small.length === 0 || bytes + size > BATCH_BYTES) {
      small = []
      bytes = 0
      batches.push(small)
    }
    small.push(blob)
    bytes += size
  }
  return batches
}

async function sendTogether(store: BlobStore, blobs: readonly OutputBlob[]): Promise<void> {
  if (blobs.length > 0) await store.writeMany(listOf(blobs), await Promise.all(blobs.map((blob) => blob.whole())))
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
