/**
 * A small cache whose keys are byte ranges, so that a lookup creates no string or object.
 *
 * The hash of a key selects a group of four slots, and the key may be in any of them: so two keys with the same hash do
 * not evict each other on every call. A new key takes a free slot, or replaces the slots of its group in turn, so the
 * cache does not grow. Keys are compared in full: a peer that makes hashes collide only makes the cache useless.
 */
const WAYS = 4

export class ByteCache<Value> {
  readonly #longestKey: number
  readonly #groupMask: number
  readonly #keys: Uint8Array
  readonly #lengths: Uint8Array
  readonly #hashes: Int32Array
  readonly #values: (Value | undefined)[]
  #turn = 0
  #empty = true

  /** `slots` is a power of two, at least four. A key has at most `longestKey` bytes, which is at most 255. */
  constructor(slots: number, longestKey: number) {
    this.#longestKey = longestKey
    this.#groupMask = slots - WAYS
    this.#keys = new Uint8Array(slots * longestKey)
    this.#lengths = new Uint8Array(slots)
    this.#hashes = new Int32Array(slots)
    this.#values = new Array<Value | undefined>(slots).fill(undefined)
  }

  get(bytes: Uint8Array, start: number, end: number): Value | undefined {
    const length = end - start
    if (length > this.#longestKey) return undefined
    const hash = hashOf(bytes, start, end)
    const group = hash & this.#groupMask
    for (let slot = group; slot < group + WAYS; slot++) {
      if (this.#hashes[slot] !== hash || this.#lengths[slot] !== length) continue
      const keys = this.#keys
      const base = slot * this.#longestKey
      let same = 0
      while (same < length && keys[base + same] === bytes[start + same]) same++
      if (same === length) return this.#values[slot]
    }
    return undefined
  }

  /** Adds a key that `get` did not find. A key that is too long is not stored. */
  set(bytes: Uint8Array, start: number, end: number, value: Value): void {
    const length = end - start
    if (length > this.#longestKey) return
    const hash = hashOf(bytes, start, end)
    const slot = this.#slotFor(hash & this.#groupMask)
    this.#keys.set(bytes.subarray(start, end), slot * this.#longestKey)
    this.#hashes[slot] = hash
    this.#lengths[slot] = length
    this.#values[slot] = value
    this.#empty = false
  }

  clear(): void {
    if (this.#empty) return
    this.#empty = true
    this.#values.fill(undefined)
    this.#hashes.fill(0)
    this.#lengths.fill(0)
  }

  #slotFor(group: number): number {
    for (let slot = group; slot < group + WAYS; slot++) if (this.#values[slot] === undefined) return slot
    this.#turn = (this.#turn + 1) % WAYS
    return group + this.#turn
  }
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let sum = end - start
  for (let i = start; i < end; i++) sum = (Math.imul(sum, 31) + (bytes[i] as number)) | 0
  return sum ^ (sum >>> 15)
}
