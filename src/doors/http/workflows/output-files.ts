import type { Digest } from '../../../base/digest.ts'
import { DigestListBuilder } from '../../../base/digest-list.ts'
import { formatDigest } from '../../../base/digest-text.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'

/** Larger files are requested one by one. */
const MOST_BYTES = 64 * 1024
/** The number of bytes that are read together. */
const BATCH_BYTES = 256 * 1024
const BATCH_FILES = 500

/**
 * Streams the small files among the given ones: for each a line `HASH/SIZE`, then its bytes. Files that are no longer
 * in the store are left out; the client requests them by digest.
 */
export function smallFiles(files: readonly Digest[], blobs: Pick<BlobStore, 'readMany'>): ReadableStream<Uint8Array> {
  const wanted = new Map<string, Digest>()
  for (const digest of files)
    if (digest.size > 0 && digest.size <= MOST_BYTES && digest.fn === 'sha256') wanted.set(formatDigest(digest), digest)
  const left = batchesOf([...wanted.values()])
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { value: batch, done } = left.next()
        if (done === true) return controller.close()
        const bytes = await framed(batch, blobs)
        if (bytes.length > 0) return controller.enqueue(bytes)
      }
    },
  })
}

function* batchesOf(digests: readonly Digest[]): Generator<readonly Digest[], undefined> {
  let batch: Digest[] = []
  let bytes = 0
  for (const digest of digests) {
    if (batch.length >= BATCH_FILES || bytes + digest.size > BATCH_BYTES) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(digest)
    bytes += digest.size
  }
  if (batch.length > 0) yield batch
}

async function framed(batch: readonly Digest[], blobs: Pick<BlobStore, 'readMany'>): Promise<Uint8Array> {
  const list = new DigestListBuilder('sha256', batch.length)
  for (const { hash, size } of batch) list.add(hash, size)
  const pieces: Uint8Array[] = []
  await blobs.readMany(list.build(), {
    found(index, bytes) {
      const digest = batch[index]
      if (digest !== undefined) pieces.push(Buffer.from(`${formatDigest(digest)}\n`), Uint8Array.from(bytes))
    },
    absent() {},
  })
  return Buffer.concat(pieces)
}
