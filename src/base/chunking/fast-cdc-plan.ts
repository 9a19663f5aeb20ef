import { gearSlice } from './gear.ts'

export interface FastCdcOptions {
  /** A power of two. */
  readonly averageBytes: number
  /** XORed into the Gear table; 32 bits. */
  readonly seed?: number
}

const SMALLEST_AVERAGE = 1024
const LARGEST_AVERAGE = 1024 * 1024
const NORMALISATION = 2
/** The hash is kept as this many low bits and the 32 above them. */
export const LOW_BITS = 24

/** By the number of bits set, from the authors' code and, past 17 bits, from restic's. */
const FIRST_MASK_BITS = 8
const MASKS = [
  0x1800035300, 0x19000353000, 0x590003530000, 0xd90003530000, 0xd90103530000, 0xd90303530000, 0xd90313530000,
  0xd90f03530000, 0xd90303537000, 0xd90703537000, 0xd90707537000, 0xd91707537000, 0xd91747537000, 0xd91767537000,
  0xd93767537000,
]

export interface Mask {
  readonly low: number
  readonly high: number
}

export interface FastCdcPlan {
  readonly min: number
  readonly average: number
  readonly max: number
  readonly strict: Mask
  readonly lax: Mask
  readonly low: Int32Array
  readonly high: Int32Array
}

export function planFastCdc({ averageBytes, seed = 0 }: FastCdcOptions): FastCdcPlan {
  const bits = Math.log2(averageBytes)
  if (!(averageBytes >= SMALLEST_AVERAGE && averageBytes <= LARGEST_AVERAGE && Number.isInteger(bits))) {
    throw new RangeError(`FastCDC's average must be a power of two from 1 KiB to 1 MiB, not ${averageBytes}`)
  }
  if (seed >>> 0 !== seed) throw new RangeError(`FastCDC's seed must be an unsigned number of 32 bits, not ${seed}`)
  return {
    min: averageBytes / 4,
    average: averageBytes,
    max: averageBytes * 4,
    strict: maskOf(bits + NORMALISATION),
    lax: maskOf(bits - NORMALISATION),
    low: gearSlice({ from: 0, width: LOW_BITS }, seed),
    high: gearSlice({ from: LOW_BITS, width: 32 }, seed),
  }
}

function maskOf(bits: number): Mask {
  const mask = MASKS[bits - FIRST_MASK_BITS] as number
  return { low: mask % 2 ** LOW_BITS, high: Math.floor(mask / 2 ** LOW_BITS) }
}
