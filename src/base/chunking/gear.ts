import { hash } from 'node:crypto'

/**
 * The Gear rolling hash: shift the 64 bits left by one, add the table's number for the next byte. A byte is shifted out
 * after 64 steps, so the hash depends on the last 64 bytes only. Chunkers keep it in two or three small integers, each
 * its own slice of the 64 bits: JavaScript has no fast 64-bit integer, and a carry between full 32-bit halves cannot
 * be had without a comparison. Slices with room above them let carries wait for a few steps.
 */
export const GEAR_WINDOW = 64

/** Which of the 64 bits a slice holds: `width` of them from bit `from` up. */
export interface ByteSlice {
  readonly from: number
  readonly width: number
}

/**
 * One slice of each of the 256 numbers, which are the first 8 bytes of the MD5 of the byte repeated 64 times. (The
 * protocol's comment specifies the MD5 of the byte, once; its vectors and the implementations that it names repeat it.)
 */
export function gearSlice({ from, width }: ByteSlice, seed = 0): Int32Array {
  const slice = new Int32Array(256)
  const mask = (1n << BigInt(width)) - 1n
  for (let byte = 0; byte < 256; byte += 1) {
    const number = hash('md5', Buffer.alloc(GEAR_WINDOW, byte), 'buffer').readBigUInt64BE() ^ BigInt(seed)
    slice[byte] = Number((number >> BigInt(from)) & mask)
  }
  return slice
}
