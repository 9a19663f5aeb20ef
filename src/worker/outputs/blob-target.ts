import type { Digest } from '../../base/digest.ts'

/** An output of an attempt. Its bytes are read on demand, and may be read more than once. */
export interface OutputBlob {
  readonly digest: Digest
  whole(): Promise<Uint8Array>
  pieces(): AsyncIterable<Uint8Array>
}

/** Where a worker stores outputs. */
export interface BlobTarget {
  /** Resolves when the store holds all of them. Blobs that it already holds are not sent. */
  store(blobs: readonly OutputBlob[], signal: AbortSignal): Promise<void>
}

export const outputInMemory = (digest: Digest, bytes: Uint8Array): OutputBlob => ({
  digest,
  whole: async () => bytes,
  async *pieces() {
    yield bytes
  },
})
