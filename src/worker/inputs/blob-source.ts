import type { Digest } from '../../base/digest.ts'

/** Where a worker reads blobs. Callers verify the bytes: a source need not be trusted. */
export interface BlobSource {
  /** The largest total of one `readMany`; larger blobs are read one by one. */
  readonly batchBytes: number
  /** Returns whole blobs keyed by `formatDigest`, without the absent ones. All digests have the same function. */
  readMany(digests: readonly Digest[], signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>>
  /** Returns the absent digests. All digests have the same function. */
  missing(digests: readonly Digest[], signal: AbortSignal): Promise<readonly Digest[]>
  /** Returns the blob in pieces, each valid until the next is read; undefined when the blob is absent. */
  read(digest: Digest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>
}
