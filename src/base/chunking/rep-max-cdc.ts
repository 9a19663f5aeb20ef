import type { Chunker, NewChunker } from './chunker.ts'
import { GEAR_WINDOW } from './gear.ts'
import { RecentBytes } from './recent-bytes.ts'
import { type MaximumTables, maximumTables, RollingMaximum } from './rolling-maximum.ts'

/**
 * RepMaxCDC: chunks of at least `minBytes` and less than twice that. Where a chunk ends is decided so: of the positions
 * from `minBytes` behind its start to the end of the horizon (and never closer than `minBytes` to the end of the stream)
 * take the one with the highest Gear hash, the first of equals. If the chunk would be too long, that position is left
 * for a later chunk, and the choice is repeated among those at least `minBytes` before it.
 *
 * Such a repeated choice only ever falls on a *record*, a position whose hash is higher than all before it, so records
 * are all that has to be remembered. Three things can happen to them:
 *  - the latest stands unbeaten for `minBytes`: whatever comes, it will be a cut, and so will the choices that lead
 *    from it back to the start. Almost always it ends this way, and the next records begin behind it;
 *  - the stream ends: the same, from the last record that is far enough from the end;
 *  - the horizon is passed: only the first cut is certain. Records behind it stay, but positions that were no record
 *    seen from the old start may be one seen from the new: these few bytes are hashed again.
 */
export interface RepMaxCdcOptions {
  readonly minBytes: number
  /** How far ahead a better cut is looked for. Memory grows with it; 0 makes all chunks `minBytes` long. */
  readonly horizonBytes: number
}

/** Longer pushes are taken in slices, so that the ring need not hold a whole push. */
const SLICE = 64 * 1024

export function repMaxCdc({ minBytes, horizonBytes }: RepMaxCdcOptions): NewChunker {
  if (!(Number.isSafeInteger(minBytes) && minBytes >= GEAR_WINDOW)) {
    throw new RangeError(`RepMaxCDC's minimum must be a whole number of at least ${GEAR_WINDOW}, not ${minBytes}`)
  }
  if (!(Number.isSafeInteger(horizonBytes) && horizonBytes >= 0)) {
    throw new RangeError(`RepMaxCDC's horizon must be a whole number, not ${horizonBytes}`)
  }
  const tables = maximumTables()
  return () => new RepMaxCdc({ minBytes, horizonBytes }, tables)
}

class RepMaxCdc implements Chunker {
  readonly #min: number
  readonly #horizon: number
  readonly #tables: MaximumTables
  readonly #recent: RecentBytes
  #hash: RollingMaximum
  #seen = 0 // bytes taken, which is the position that the hash stands at
  #first: number // the first position where the open chunk may end
  #records: number[] = [] // positions from #first on, ascending; empty until #first is reached
  #cuts: number[] = []

  constructor({ minBytes, horizonBytes }: RepMaxCdcOptions, tables: MaximumTables) {
    this.#min = minBytes
    this.#horizon = horizonBytes
    this.#tables = tables
    this.#recent = new RecentBytes(horizonBytes + GEAR_WINDOW + SLICE)
    this.#hash = new RollingMaximum(tables)
    this.#first = minBytes
  }

  push(bytes: Uint8Array): readonly number[] {
    this.#cuts = []
    for (let from = 0; from < bytes.length; from += SLICE) this.#take(bytes.subarray(from, from + SLICE))
    return this.#cuts
  }

  finish(): readonly number[] {
    this.#cuts = []
    this.#cutTo(this.#seen - this.#min)
    if (this.#seen > 0) this.#cuts.push(this.#seen)
    this.#seen = 0
    this.#first = this.#min
    this.#records = []
    return this.#cuts
  }

  #take(slice: Uint8Array): void {
    const start = this.#seen
    const end = start + slice.length
    // Bytes that may be hashed again lie behind the start of the next chunk, which is at #first or later.
    const kept = Math.max(start, this.#first + this.#min - GEAR_WINDOW)
    if (kept < end) this.#recent.keep(slice.subarray(kept - start), kept)
    while (this.#seen < end) {
      const latest = this.#records.at(-1)
      if (latest === undefined) this.#approach(slice.subarray(this.#seen - start))
      else if (this.#seen === this.#first + this.#horizon + this.#min) this.#passHorizon()
      else if (this.#seen === latest + this.#min - 1) this.#settle(latest)
      else this.#climb(slice.subarray(this.#seen - start), latest)
    }
  }

  /** On the way to the first position, only the last 64 bytes matter. */
  #approach(bytes: Uint8Array): void {
    const near = bytes.subarray(0, this.#first - this.#seen)
    this.#seen += near.length
    this.#hash.begin(near)
    if (this.#seen === this.#first) this.#records = [this.#first]
  }

  #climb(bytes: Uint8Array, latest: number): void {
    const stop = Math.min(latest + this.#min - 1, this.#first + this.#horizon + this.#min)
    const ahead = bytes.subarray(0, stop - this.#seen)
    const higher = this.#hash.climb(ahead)
    this.#seen += higher < 0 ? ahead.length : higher + 1
    if (higher >= 0) this.#records.push(this.#seen)
  }

  #settle(latest: number): void {
    this.#cutTo(latest)
    this.#first = latest + this.#min
    this.#records = []
  }

  #passHorizon(): void {
    const cut = this.#choices(this.#first + this.#horizon).at(-1) as number
    this.#cuts.push(cut)
    this.#first = cut + this.#min
    const kept = this.#records.filter((record) => record >= this.#first)
    const again = new RollingMaximum(this.#tables)
    const found = this.#recordsAgain(again, kept[0] ?? this.#seen + 1)
    if (kept.length === 0) this.#hash.adoptBest(again)
    this.#records = [...found, ...kept]
  }

  /** The records from #first on and before `end`, from the bytes that were kept. */
  #recordsAgain(hash: RollingMaximum, end: number): number[] {
    if (end === this.#first) return []
    for (const view of this.#recent.views(this.#first - GEAR_WINDOW, this.#first)) hash.begin(view)
    const records = [this.#first]
    let position = this.#first
    for (let view of this.#recent.views(this.#first, end - 1)) {
      while (view.length > 0) {
        const higher = hash.climb(view)
        const taken = higher < 0 ? view.length : higher + 1
        position += taken
        if (higher >= 0) records.push(position)
        view = view.subarray(taken)
      }
    }
    return records
  }

  /** Cuts at the highest position up to `limit` and at the choices that lead to it. */
  #cutTo(limit: number): void {
    this.#cuts.push(...this.#choices(limit).reverse())
  }

  /** The choice among positions up to `limit`, then those repeated before it; the last is the end of the open chunk. */
  #choices(limit: number): number[] {
    const choices: number[] = []
    let highest = limit
    for (let i = this.#records.length - 1; i >= 0; i -= 1) {
      const record = this.#records[i] as number
      if (record > highest) continue
      choices.push(record)
      highest = record - this.#min
    }
    return choices
  }
}
