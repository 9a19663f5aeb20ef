/**
 * A small cache keyed by a run of bytes, for lookups that must not build a string or an object to ask.
 *
 * Direct-mapped: a key has one slot, found by its hash, and a newcomer takes the slot from whoever was there. So it
 * stays as small as it began, and a peer that means ill can only make it useless. Keys are compared in full.
 */
export class ByteCache<Value> {
  readonly #longestKey: number
  readonly #mask: number
  readonly #keys: Uint8Array
  readonly #lengths: Uint8Array
  readonly #values: (Value | undefined)[]

  /** `slots` is a power of two; a key is at most `longestKey` bytes, itself at most 255. */
  constructor(slots: number, longestKey: number) {
    this.#longestKey = longestKey
    this.#mask = slots - 1
    this.#keys = new Uint8Array(slots * longestKey)
    this.#lengths = new Uint8Array(slots)
    this.#values = new Array<Value | undefined>(slots).fill(undefined)
  }

  get(bytes: Uint8Array, start: number, end: number): Value | undefined {
    const length = end - start
    if (length > this.#longestKey) return undefined
    const slot = hash(bytes, start, end) & this.#mask
    if (this.#lengths[slot] !== length) return undefined
    const keys = this.#keys
    const base = slot * this.#longestKey
    for (let i = 0; i < length; i++) if (keys[base + i] !== bytes[start + i]) return undefined
    return this.#values[slot]
  }

  /** A key that is too long is not kept. */
  set(bytes: Uint8Array, start: number, end: number, value: Value): void {
    const length = end - start
    if (length > this.#longestKey) return
    const slot = hash(bytes, start, end) & this.#mask
    const base = slot * this.#longestKey
    for (let i = 0; i < length; i++) this.#keys[base + i] = bytes[start + i] as number
    this.#lengths[slot] = length
    this.#values[slot] = value
  }

  clear(): void {
    this.#values.fill(undefined)
  }
}

function hash(bytes: Uint8Array, start: number, end: number): number {
  let sum = end - start
  for (let i = start; i < end; i++) sum = Math.imul(sum, 31) + (bytes[i] as number)
  return sum ^ (sum >>> 8)
}
