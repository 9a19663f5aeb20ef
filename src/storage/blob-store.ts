import type { Digest, DigestFunction, DigestList } from '../base/digest.ts'

/**
 * Stores blobs under their digests. A store serves one space: blobs of other spaces are absent.
 *
 * A store does not verify blobs: the `verifying` decorator checks bytes against their digest before they are written.
 * Absence is a result, not an error. An error means that the store failed (a FaultError: `exhausted` when it is full,
 * `unavailable` when the disk or the upstream fails).
 *
 * Stores in this process return the results of `missing` and `find` synchronously, and those of `readMany` too unless
 * it includes large blobs. Other stores return a promise.
 */
export interface BlobStore {
  /** Sets `absent[i]` to 1 for each absent digest. Sets it to 0 for each stored one, and touches that blob. */
  missing(list: DigestList, absent: Uint8Array): void | Promise<void>
  /**
   * Finds the digest of a stored blob by its hash (lower-case hex) and touches the blob; undefined when there is none,
   * or when the store cannot search by hash. For protocols without sizes.
   */
  find(fn: DigestFunction, hash: string): Digest | undefined | Promise<Digest | undefined>
  /**
   * Reads whole blobs, uncompressed: calls `into` with the bytes of each (valid during the call only) or its absence,
   * in any order.
   */
  readMany(list: DigestList, into: BlobSink): void | Promise<void>
  /** Opens one blob for reading; returns undefined when it is absent. */
  read(digest: Digest, range: ReadRange, signal?: AbortSignal): Promise<BlobReader | undefined>
  /**
   * Writes whole blobs. Resolves when they have the durability of the store. Blobs that exist already are only touched.
   * The bytes must not change until then. The store batches the calls of one loop turn, so a caller that needs the
   * outcome of each blob can make one call per blob at little cost.
   */
  writeMany(list: DigestList, blobs: readonly Uint8Array[]): Promise<void>
  /** Writes one blob in pieces, whose bytes are in `form`. The blob is visible only after `commit`. */
  write(digest: Digest, form: StoredForm): BlobWriter
}

/** The encoding of the stored bytes of a blob. */
export type StoredForm = 'identity' | 'zstd'

export interface ReadRange {
  /** The first byte to read, as an offset in the uncompressed blob. */
  readonly offset: number
  /** The most bytes to read; undefined for all that follow. */
  readonly limit?: number
  /** The reader accepts stored zstd unchanged. Only for reads of the whole blob. */
  readonly acceptZstd?: boolean
  /** The reader accepts only zstd. Some stores compress for it; others return their stored form. */
  readonly onlyZstd?: boolean
}

export interface BlobReader {
  /** `zstd` only when the caller accepts it and the blob is stored as zstd. */
  readonly form: StoredForm
  /**
   * The pieces, in order. Each is valid until the next is requested, and they can be read once. Throws a bug fault with
   * `data-loss` when the bytes on disk are corrupt. Nothing stays open for a reader that is never read.
   */
  readonly pieces: AsyncIterable<Uint8Array>
}

export interface BlobSink {
  found(index: number, bytes: Uint8Array): void
  absent(index: number): void
}

export interface BlobWriter {
  /** Resolves when the next piece may be written. The caller may then reuse the bytes. */
  write(bytes: Uint8Array): void | Promise<void>
  /** Resolves when the blob has the durability of the store. */
  commit(): Promise<void>
  /** Discards the written bytes; has no effect after `commit`. */
  abort(): void
}
