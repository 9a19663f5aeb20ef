import type { DigestFunction } from '../../base/digest.ts'
import type { StoredForm } from '../blob-store.ts'

/**
 * Work on many bytes, done on other threads so that the main one stays free for small calls. Measured here for SHA-256:
 * 64 KiB cost the main thread 47 µs hashed on the spot and 13 to 16 handed over, 256 KiB 188 against 31, 1 MiB 723
 * against 107; at 16 KiB the two are even. So the line is at 64 KiB, and pieces are handed over 256 KiB at a time.
 */
export const INLINE_BYTES = 64 * 1024

export interface BulkPool {
  /** Takes a blob in pieces, compressed or not, and returns its real digest. */
  inspect(fn: DigestFunction, form: StoredForm, maxSize: number): Inspection
  close(): Promise<void>
}

export interface Inspection {
  /** Resolves when more may be given; the bytes may be reused then. */
  update(bytes: Uint8Array): void | Promise<void>
  /** The hash and size of the uncompressed blob; undefined when it is more than `maxSize`, or not zstd at all. */
  finish(): Promise<Inspected | undefined>
  /** Discards it; may be called at any time. */
  cancel(): void
}

export interface Inspected {
  readonly hash: Uint8Array
  readonly size: number
}
