import { digestListOf } from '../../base/digest-list.ts'
import { formatDigest } from '../../base/digest-text.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import type { BlobSource } from './blob-source.ts'

const BATCH_BYTES = 4 * 1024 * 1024

/** Reads from a store, which may be remote. */
export const storeSource = (store: BlobStore): BlobSource => ({
  batchBytes: BATCH_BYTES,
  async readMany(digests) {
    const found = new Map<string, Uint8Array>()
    const [first] = digests
    if (first === undefined) return found
    await store.readMany(digestListOf(first.fn, digests), {
      found: (index, bytes) => void found.set(formatDigest(digests[index] as typeof first), Buffer.from(bytes)),
      absent() {},
    })
    return found
  },
  async missing(digests) {
    const [first] = digests
    if (first === undefined) return []
    const absent = new Uint8Array(digests.length)
    await store.missing(digestListOf(first.fn, digests), absent)
    return digests.filter((_, index) => absent[index] === 1)
  },
  read: async (digest, signal) => (await store.read(digest, { offset: 0 }, signal))?.pieces,
})
