import type { Digest } from '../../base/digest.ts'

/** Bytes that an attempt made, under their digest. They are read when they are needed, and may be read again. */
export interface OutputBlob {
  readonly digest: Digest
  whole(): Promise<Uint8Array>
  pieces(): AsyncIterable<Uint8Array>
}

/** Where a worker puts what its attempts made. */
export interface BlobTarget {
  /** Resolves when all are held; what is held already need not be sent. */
  store(blobs: readonly OutputBlob[], signal: AbortSignal): Promise<void>
}

export const outputInMemory = (digest: Digest, bytes: Uint8Array): OutputBlob => ({
  digest,
  whole: async () => bytes,
  async *pieces() {
    yield bytes
  },
})
