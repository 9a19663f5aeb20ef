import type { Digest, DigestFunction, DigestList } from '../base/digest.ts'

/**
 * Where content lives, under its digest. One of these serves one space: blobs of other spaces are not there.
 *
 * A store believes what it is told: that bytes match their digest is checked by the `verifying` decorator before they
 * get here. Absence is an answer, not an error; an error means that the store could not do its work (a FaultError:
 * `exhausted` when it is full, `unavailable` when the disk or the upstream fails).
 *
 * Stores in this process answer `missing` and `find` before they return, and `readMany` too unless large blobs are among what is
 * asked for; others answer with a promise.
 */
export interface BlobStore {
  /** Sets `absent[i]` to 1 for each digest that is not held and to 0 for each that is, which also touches it. */
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
  /** Opens one blob for reading; undefined when it is not held. */
  read(digest: Digest, range: ReadRange, signal?: AbortSignal): Promise<BlobReader | undefined>
  /**
   * Takes whole blobs; resolves when they are held as durably as the store promises. Held ones are only touched. The
   * bytes must not change until then. Calls of one turn are gathered by the store, so one for each blob costs little:
   * that is the way for a caller who wants to know of each blob how it fared.
   */
  writeMany(list: DigestList, blobs: readonly Uint8Array[]): Promise<void>
  /** Takes one blob in pieces, in the form that the bytes have; nothing is visible before `commit`. */
  write(digest: Digest, form: StoredForm): BlobWriter
}

/** How the bytes of a blob are kept. */
export type StoredForm = 'identity' | 'zstd'

export interface ReadRange {
  /** The first byte to read, as an offset in the uncompressed blob. */
  readonly offset: number
  /** How many bytes at most; undefined for all that follow. */
  readonly limit?: number
  /** The reader accepts stored zstd as it is: only for reads of the whole blob. */
  readonly acceptZstd?: boolean
}

export interface BlobReader {
  /** `zstd` only when the caller accepts it and the blob is kept so. */
  readonly form: StoredForm
  /**
   * Pieces in order, each valid until the next is asked for, to be gone through once; throws a bug with `data-loss` when
   * the bytes on disk went bad. Nothing is held open for a reader that is never asked.
   */
  readonly pieces: AsyncIterable<Uint8Array>
}

export interface BlobSink {
  found(index: number, bytes: Uint8Array): void
  absent(index: number): void
}

export interface BlobWriter {
  /** Resolves when more may be written; the bytes may be reused then. */
  write(bytes: Uint8Array): void | Promise<void>
  /** Resolves when the blob is held as durably as the store promises. */
  commit(): Promise<void>
  /** Discards the written bytes; does nothing after `commit`. */
  abort(): void
}
