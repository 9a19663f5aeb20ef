/**
 * Maps hashes to numbers, in one flat array of pairs. A `Map` with string keys compares the strings of the entries that
 * it passes and moves all entries when it grows; with a million strings, each comparison waits for memory. This index
 * skips, moves and removes an entry without loading the object that it stands for.
 *
 * Open addressing with linear probing, at most half full. Removal closes the gap, so there are no tombstones.
 */
export class HashIndex {
  /** Hash and number + 1 of each slot; 0 marks an empty slot. */
  #slots = new Int32Array(2 * 64)
  #mask = 63
  #size = 0

  /** The first slot with the hash, from `place` on; −1 when there is none. */
  seek(hash: number, place = hash): number {
    const slots = this.#slots
    for (let at = place & this.#mask; slots[2 * at + 1] !== 0; at = (at + 1) & this.#mask)
      if (slots[2 * at] === hash) return at
    return -1
  }

  /** Reads the slot of the hash to load it into the processor's cache. */
  preload(hash: number): number {
    return this.#slots[2 * (hash & this.#mask)] as number
  }

  numberAt(place: number): number {
    return (this.#slots[2 * place + 1] as number) - 1
  }

  add(hash: number, number: number): void {
    if (2 * ++this.#size > this.#mask) this.#grow()
    this.#put(hash, number + 1)
  }

  /** Does nothing when the entry is absent. */
  remove(hash: number, number: number): void {
    let at = this.seek(hash)
    while (at >= 0 && this.numberAt(at) !== number) at = this.seek(hash, at + 1)
    if (at < 0) return
    this.#size--
    this.#closeUp(at)
  }

  /** An entry that was displaced by earlier entries moves into the gap, and its own slot becomes the next gap. */
  #closeUp(from: number): void {
    const slots = this.#slots
    const mask = this.#mask
    let gap = from
    for (let at = (gap + 1) & mask; slots[2 * at + 1] !== 0; at = (at + 1) & mask) {
      const hash = slots[2 * at] as number
      if (((at - hash) & mask) < ((at - gap) & mask)) continue
      slots[2 * gap] = hash
      slots[2 * gap + 1] = slots[2 * at + 1] as number
      gap = at
    }
    slots[2 * gap + 1] = 0
  }

  #put(hash: number, entry: number): void {
    const slots = this.#slots
    let at = hash & this.#mask
    while (slots[2 * at + 1] !== 0) at = (at + 1) & this.#mask
    slots[2 * at] = hash
    slots[2 * at + 1] = entry
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Int32Array(2 * before.length)
    this.#mask = 2 * this.#mask + 1
    for (let i = 0; i < before.length; i += 2) {
      const entry = before[i + 1] as number
      if (entry !== 0) this.#put(before[i] as number, entry)
    }
  }
}

/** Hashes two characters per step, and finally mixes all bits into the low ones, which choose the slot. */
export function textHash(text: string, seed: number): number {
  let hash = seed | 0
  const even = text.length & ~1
  for (let i = 0; i < even; i += 2)
    hash = Math.imul(hash ^ (text.charCodeAt(i) + (text.charCodeAt(i + 1) << 16)), 0x9e3779b1) ^ (hash >>> 15)
  if (even < text.length) hash = Math.imul(hash ^ text.charCodeAt(even), 0x9e3779b1)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
