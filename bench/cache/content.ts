/**
 * The blobs of the bench: the same in every process, all different, and about half their size under zstd, like sources
 * and object files. Each is cut out of one pool and ends with its own serial number.
 */
import { createCipheriv, createHash } from 'node:crypto'
import { constants, type ZstdOptions, zstdCompressSync } from 'node:zlib'
import type { Digest } from './messages.ts'

export const KiB = 1024
export const MiB = 1024 * KiB

/** Longer than the window of any compressor, so that the pool does not match itself. */
const POOL_BYTES = 16 * MiB
const SERIAL_BYTES = 16
const GROUP_BYTES = 64
const WORDS = 'static const unsigned windlass ('.padEnd(GROUP_BYTES / 2, ' ')
const ZSTD: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Identifies a blob. Sets have no blobs in common: one set is read, and each round uploads another. */
export interface Serial {
  readonly set: string
  readonly index: number
}

export interface Blob {
  readonly digest: Digest
  /** The pieces, in order; many blobs share their memory. */
  readonly pieces: readonly Buffer[]
}

let pool: Buffer | undefined

function thePool(): Buffer {
  if (pool !== undefined) return pool
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 'windlass'), Buffer.alloc(16))
  const bytes = cipher.update(Buffer.alloc(POOL_BYTES))
  for (let at = GROUP_BYTES / 2; at < POOL_BYTES; at += GROUP_BYTES) bytes.write(WORDS, at, 'latin1')
  pool = bytes
  return bytes
}

const serialBytes = ({ set, index }: Serial): Buffer => {
  const serial = createHash('sha256').update(set).digest().subarray(0, SERIAL_BYTES)
  serial.writeUInt32BE(index, SERIAL_BYTES - 4)
  return serial
}

export function makeBlob(serial: Serial, size: number): Blob {
  const bytes = thePool()
  const pieces: Buffer[] = []
  let at = (serial.index * 4160) % POOL_BYTES
  for (let left = size - SERIAL_BYTES; left > 0; ) {
    const piece = bytes.subarray(at, Math.min(POOL_BYTES, at + left))
    pieces.push(piece)
    left -= piece.length
    at = 0
  }
  pieces.push(serialBytes(serial))
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return { digest: { hash: hash.digest('hex'), size }, pieces }
}

/** Returns the blob in one piece. */
export const wholeOf = ({ pieces }: Blob): Buffer => Buffer.concat(pieces)

/** Returns the blob as one zstd frame, at the compression level of clients. */
export const compressed = (blob: Blob): Buffer => zstdCompressSync(wholeOf(blob), ZSTD)

/** Returns the digest of a blob that does not exist. */
export const absentDigest = ({ set, index }: Serial, size: number): Digest => ({
  hash: createHash('sha256').update(`absent ${set} ${index}`).digest('hex'),
  size,
})

/** Returns the digest of an action that does not exist: a lookup of its result does not need it. */
export const actionDigest = (index: number): Digest => absentDigest({ set: 'action', index }, 142)

/** Returns a generator of pseudo-random numbers from 0 (inclusive) to 1 (exclusive), determined by the seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
