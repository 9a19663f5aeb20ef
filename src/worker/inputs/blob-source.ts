import type { Digest } from '../../base/digest.ts'

/**
 * Where a worker gets blobs from. What comes is checked by who asks for it: a source need not be trusted.
 */
export interface BlobSource {
  /** The most bytes that `readMany` can be asked for at a time; larger blobs are read one by one. */
  readonly batchBytes: number
  /** Whole blobs by `formatDigest`; those that are absent are not in the answer. All of one digest function. */
  readMany(digests: readonly Digest[], signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>>
  /** Which of them are absent. All of one digest function. */
  missing(digests: readonly Digest[], signal: AbortSignal): Promise<readonly Digest[]>
  /** In pieces, each valid until the next is asked for; undefined when it is absent. */
  read(digest: Digest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>
}
