/**
 * Which numbers belong to a hash, in one flat array of pairs. A `Map` by text looks at the text of every entry that it
 * passes, and moves them all through its hands when it grows; with a million texts each look is a wait for memory. Here
 * an entry is passed over, moved and taken out without a look at what it stands for.
 *
 * Open addressing with linear probing, at most half full; what is taken out closes up behind itself, so there are no
 * marks left to be cleaned away.
 */
export class HashIndex {
  /** Hash and number of each place, the number one higher: 0 is an empty place. */
  #slots = new Int32Array(2 * 64)
  #mask = 63
  #size = 0

  /** The first place from `place` on that has the hash; −1 when there is none. */
  seek(hash: number, place = hash): number {
    const slots = this.#slots
    for (let at = place & this.#mask; slots[2 * at + 1] !== 0; at = (at + 1) & this.#mask)
      if (slots[2 * at] === hash) return at
    return -1
  }

  /** Reads where the hash would be, and does nothing with it. */
  fetch(hash: number): number {
    return this.#slots[2 * (hash & this.#mask)] as number
  }

  numberAt(place: number): number {
    return (this.#slots[2 * place + 1] as number) - 1
  }

  add(hash: number, number: number): void {
    if (2 * ++this.#size > this.#mask) this.#grow()
    this.#put(hash, number + 1)
  }

  /** Nothing happens when it is not there. */
  remove(hash: number, number: number): void {
    let at = this.seek(hash)
    while (at >= 0 && this.numberAt(at) !== number) at = this.seek(hash, at + 1)
    if (at < 0) return
    this.#size--
    this.#closeUp(at)
  }

  /** Whoever stands further back than the gap only because of those before moves into it, and leaves the next gap. */
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

/** Two characters a step, and at the end all bits mixed into the low ones, which choose the place. */
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
