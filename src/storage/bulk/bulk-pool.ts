import type { DigestFunction } from '../../base/digest.ts'
import type { StoredForm } from '../blob-store.ts'

/**
 * Hashes large blobs on other threads, so that the main thread stays free for small calls. Measured for SHA-256, in
 * time of the main thread: hashing 64 KiB there takes 47 µs, and passing it to a thread 13 to 16; 256 KiB take 188 and
 * 31, 1 MiB take 723 and 107. At 16 KiB both are equal. So the threshold is 64 KiB, and pieces of 256 KiB are passed.
 */
export const INLINE_BYTES = 64 * 1024

export interface BulkPool {
  /** Inspects a blob that arrives in pieces, compressed or not, and returns its actual digest. */
  inspect(fn: DigestFunction, form: StoredForm, maxSize: number): Inspection
  close(): Promise<void>
}

export interface Inspection {
  /** Resolves when the next piece may be passed. The caller may then reuse the bytes. */
  update(bytes: Uint8Array): void | Promise<void>
  /** Returns the hash and size of the uncompressed blob; undefined when it is larger than `maxSize` or not zstd. */
  finish(): Promise<Inspected | undefined>
  /** Discards the inspection; may be called at any time. */
  cancel(): void
}

export interface Inspected {
  readonly hash: Uint8Array
  readonly size: number
}
