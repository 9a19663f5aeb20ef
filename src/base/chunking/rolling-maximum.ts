import { GEAR_WINDOW, gearSlice } from './gear.ts'

/**
 * A Gear hash that rolls on and notices when it beats the best so far. All 64 bits count, so it is kept in three slices:
 * 22 low bits, 21 in the middle, 21 on top. The top slice sits at the upper end of its integer, where what overflows is
 * dropped as it should be. Carries wait for up to four steps; until then the top slice alone is too small by less than
 * CARRIES, which is exact enough to see that nothing of interest happened, and that is all that the fast loop asks.
 */
const LOW_BITS = 22
const MIDDLE_BITS = 21
const TOP_SHIFT = 11
const LOW_MASK = 2 ** LOW_BITS - 1
const MIDDLE_MASK = 2 ** MIDDLE_BITS - 1
const CARRIES = 2 ** (5 + TOP_SHIFT)

export interface MaximumTables {
  readonly low: Int32Array
  readonly middle: Int32Array
  readonly top: Int32Array
}

export const maximumTables = (): MaximumTables => ({
  low: gearSlice({ from: 0, width: LOW_BITS }),
  middle: gearSlice({ from: LOW_BITS, width: MIDDLE_BITS }),
  top: gearSlice({ from: LOW_BITS + MIDDLE_BITS, width: 64 - LOW_BITS - MIDDLE_BITS }).map((n) => n << TOP_SHIFT),
})

export class RollingMaximum {
  readonly #tables: MaximumTables
  #low = 0
  #middle = 0
  #top = 0
  #bestLow = 0
  #bestMiddle = 0
  #bestTop = 0 // compared unsigned, kept signed: a field that is a small integer is a fast one

  constructor(tables: MaximumTables) {
    this.#tables = tables
  }

  /** Takes the bytes before a position, of which the last 64 count, and makes the hash there the one to beat. */
  begin(bytes: Uint8Array): void {
    this.#setBest(-1, MIDDLE_MASK, LOW_MASK) // which nothing beats
    this.#step(bytes, Math.max(0, bytes.length - GEAR_WINDOW), bytes.length)
    this.#setBest(this.#top, this.#middle, this.#low)
  }

  /** Makes the other's best the one to beat. */
  adoptBest(other: RollingMaximum): void {
    this.#setBest(other.#bestTop, other.#bestMiddle, other.#bestLow)
  }

  /** Takes bytes up to the first after which the hash beats the best, and answers its index; -1 when none does. */
  climb(bytes: Uint8Array): number {
    for (let from = 0; from < bytes.length; ) {
      from = this.#glide(bytes, from)
      const stop = Math.min(from + GEAR_WINDOW, bytes.length)
      const higher = this.#step(bytes, from, stop)
      if (higher >= 0) return higher
      from = stop - from === GEAR_WINDOW ? endOfRun(bytes, stop) : stop
    }
    return -1
  }

  /** Takes bytes by fours, as long as none of the four can have beaten the best; answers where it stopped. */
  #glide(bytes: Uint8Array, from: number): number {
    const { low: lowGear, middle: middleGear, top: topGear } = this.#tables
    const bestTop = this.#bestTop >>> 0
    const bar = bestTop < CARRIES ? 0 : (bestTop - CARRIES) >>> 0
    let low = this.#low
    let middle = this.#middle
    let top = this.#top
    let i = from
    for (; i + 4 <= bytes.length; i += 4) {
      let byte = bytes[i] as number
      const low1 = (low << 1) + (lowGear[byte] as number)
      const middle1 = (middle << 1) + (middleGear[byte] as number)
      const top1 = ((top << 1) + (topGear[byte] as number)) | 0
      byte = bytes[i + 1] as number
      const low2 = (low1 << 1) + (lowGear[byte] as number)
      const middle2 = (middle1 << 1) + (middleGear[byte] as number)
      const top2 = ((top1 << 1) + (topGear[byte] as number)) | 0
      byte = bytes[i + 2] as number
      const low3 = (low2 << 1) + (lowGear[byte] as number)
      const middle3 = (middle2 << 1) + (middleGear[byte] as number)
      const top3 = ((top2 << 1) + (topGear[byte] as number)) | 0
      byte = bytes[i + 3] as number
      const low4 = (low3 << 1) + (lowGear[byte] as number)
      const middle4 = (middle3 << 1) + (middleGear[byte] as number)
      const top4 = ((top3 << 1) + (topGear[byte] as number)) | 0
      if (top1 >>> 0 >= bar || top2 >>> 0 >= bar || top3 >>> 0 >= bar || top4 >>> 0 >= bar) break
      middle = middle4 + (low4 >>> LOW_BITS)
      low = low4 & LOW_MASK
      top = (top4 + ((middle >>> MIDDLE_BITS) << TOP_SHIFT)) | 0
      middle &= MIDDLE_MASK
    }
    this.#low = low
    this.#middle = middle
    this.#top = top
    return i
  }

  /** Takes bytes one by one, with all their bits. */
  #step(bytes: Uint8Array, from: number, to: number): number {
    const { low: lowGear, middle: middleGear, top: topGear } = this.#tables
    const bestLow = this.#bestLow
    const bestMiddle = this.#bestMiddle
    const bestTop = this.#bestTop >>> 0
    let low = this.#low
    let middle = this.#middle
    let top = this.#top
    let i = from
    for (; i < to; i += 1) {
      const byte = bytes[i] as number
      low = (low << 1) + (lowGear[byte] as number)
      middle = (middle << 1) + (middleGear[byte] as number) + (low >>> LOW_BITS)
      top = ((top << 1) + (topGear[byte] as number) + ((middle >>> MIDDLE_BITS) << TOP_SHIFT)) | 0
      low &= LOW_MASK
      middle &= MIDDLE_MASK
      if (top >>> 0 < bestTop) continue
      if (top >>> 0 > bestTop || middle > bestMiddle || (middle === bestMiddle && low > bestLow)) break
    }
    this.#low = low
    this.#middle = middle
    this.#top = top
    if (i === to) return -1
    this.#setBest(top, middle, low)
    return i
  }

  #setBest(top: number, middle: number, low: number): void {
    this.#bestTop = top
    this.#bestMiddle = middle
    this.#bestLow = low
  }
}

/**
 * Zeros by the megabyte are common, and slow, for each of their hashes equals the best. But after 64 bytes that are the
 * same the hash no longer changes, so if those before `from` are, all further ones need not be hashed.
 */
function endOfRun(bytes: Uint8Array, from: number): number {
  const byte = bytes[from - 1]
  for (let i = from - GEAR_WINDOW; i < from; i += 1) if (bytes[i] !== byte) return from
  let end = from
  while (end < bytes.length && bytes[end] === byte) end += 1
  return end
}
