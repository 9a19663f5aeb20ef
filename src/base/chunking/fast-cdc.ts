import type { Chunker, NewChunker } from './chunker.ts'
import { type FastCdcOptions, type FastCdcPlan, LOW_BITS, type Mask, planFastCdc } from './fast-cdc-plan.ts'

/**
 * FastCDC as in the 2020 paper, with the parameters that the Remote Execution API fixes: normalisation level 2, chunks
 * from a quarter of the average to four times it. A chunk ends before the byte whose Gear hash has only zeros under a
 * mask; the mask has two bits more than the average asks for up to the average size, two fewer behind it, and the first
 * quarter is not even hashed.
 *
 * The implementations roll two bytes at a time, and that shows in one place: bytes are tested in pairs, so a byte at an
 * even offset that is the stream's last is not tested at all. A match there is in doubt until one more byte is seen.
 *
 * No mask has a bit above 47. So the hash is kept as its low 24 bits and the 32 bits above those; the carries from low
 * to high are looked at in every step but settled every fourth.
 */
export function fastCdc(params: FastCdcOptions): NewChunker {
  const plan = planFastCdc(params)
  return () => new FastCdc(plan)
}

const LOW_MASK = 2 ** LOW_BITS - 1

class FastCdc implements Chunker {
  readonly #plan: FastCdcPlan
  #start = 0 // offset of the open chunk in the stream
  #length = 0 // length of the open chunk so far
  #inDoubt = false // whether the open chunk should have ended before its last byte
  #low = 0
  #high = 0

  constructor(plan: FastCdcPlan) {
    this.#plan = plan
  }

  push(bytes: Uint8Array): readonly number[] {
    const cuts: number[] = []
    if (this.#inDoubt && bytes.length > 0) {
      this.#inDoubt = false
      cuts.push(this.#cutAt(this.#length - 1))
      this.#length = 1
    }
    for (let from = 0; from < bytes.length; ) {
      from = this.#length < this.#plan.min ? this.#skip(bytes, from) : this.#search(bytes, from, cuts)
    }
    return cuts
  }

  finish(): readonly number[] {
    const cuts = this.#length > 0 ? [this.#start + this.#length] : []
    this.#cutAt(this.#length)
    this.#start = 0
    this.#inDoubt = false
    return cuts
  }

  #skip(bytes: Uint8Array, from: number): number {
    const skipped = Math.min(this.#plan.min - this.#length, bytes.length - from)
    this.#length += skipped
    return from + skipped
  }

  #search(bytes: Uint8Array, from: number, cuts: number[]): number {
    const { average, max, strict, lax } = this.#plan
    const early = this.#length < average
    const zone = bytes.subarray(from, from + (early ? average : max) - this.#length)
    const found = this.#scan(zone, early ? strict : lax)
    this.#length += found
    const next = from + found
    if (found < zone.length && next === bytes.length - 1 && this.#length % 2 === 0) {
      this.#inDoubt = true
      this.#length += 1
      return next + 1
    }
    if (found < zone.length || this.#length === max) cuts.push(this.#cutAt(this.#length))
    return next
  }

  /** Rolls over the bytes up to the first that matches and answers its index, or their number when none does. */
  #scan(bytes: Uint8Array, mask: Mask): number {
    const { low: lowGear, high: highGear } = this.#plan
    const { low: lowMask, high: highMask } = mask
    const length = bytes.length
    let low = this.#low
    let high = this.#high
    let i = 0
    while (i < length) {
      for (; i + 4 <= length; i += 4) {
        let byte = bytes[i] as number
        const low1 = (low << 1) + (lowGear[byte] as number)
        const high1 = ((high << 1) + (highGear[byte] as number)) | 0
        byte = bytes[i + 1] as number
        const low2 = (low1 << 1) + (lowGear[byte] as number)
        const high2 = ((high1 << 1) + (highGear[byte] as number)) | 0
        byte = bytes[i + 2] as number
        const low3 = (low2 << 1) + (lowGear[byte] as number)
        const high3 = ((high2 << 1) + (highGear[byte] as number)) | 0
        byte = bytes[i + 3] as number
        const low4 = (low3 << 1) + (lowGear[byte] as number)
        const high4 = ((high3 << 1) + (highGear[byte] as number)) | 0
        const settled1 = high1 + (low1 >>> LOW_BITS)
        const settled2 = high2 + (low2 >>> LOW_BITS)
        const settled3 = high3 + (low3 >>> LOW_BITS)
        const settled4 = high4 + (low4 >>> LOW_BITS)
        if ((settled1 & highMask) === 0 || (settled2 & highMask) === 0) break
        if ((settled3 & highMask) === 0 || (settled4 & highMask) === 0) break
        high = settled4 | 0
        low = low4 & LOW_MASK
      }
      // Among the next four is one that matches in its high bits, or they are the last: one by one, with the low bits.
      for (const stop = Math.min(i + 4, length); i < stop; i += 1) {
        const byte = bytes[i] as number
        low = (low << 1) + (lowGear[byte] as number)
        high = ((high << 1) + (highGear[byte] as number) + (low >>> LOW_BITS)) | 0
        low &= LOW_MASK
        if ((high & highMask) === 0 && (low & lowMask) === 0) return i
      }
    }
    this.#low = low
    this.#high = high
    return length
  }

  #cutAt(length: number): number {
    this.#start += length
    this.#length = 0
    this.#low = 0
    this.#high = 0
    return this.#start
  }
}
