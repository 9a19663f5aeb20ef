/** Digests that look random, differ for each number, and are cheap to make. */
import type { DigestList } from '../../src/base/digest.ts'

const WORDS = 8

export class Digests implements DigestList {
  readonly fn = 'sha256'
  readonly width = WORDS * 4
  readonly count: number
  readonly hashes: Uint8Array
  readonly sizes: Float64Array
  readonly #words: Uint32Array

  constructor(count: number) {
    this.count = count
    this.#words = new Uint32Array(count * WORDS)
    this.hashes = new Uint8Array(this.#words.buffer)
    this.sizes = new Float64Array(count)
  }

  /** Sets digest `i` to that of blob `number`. */
  set(i: number, number: number): void {
    let mixed = number
    for (let word = 0; word < WORDS - 1; word++) {
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) + word
      mixed ^= mixed >>> 13
      this.#words[i * WORDS + word] = mixed
    }
    this.#words[i * WORDS + WORDS - 1] = number
    this.sizes[i] = number & 0xfffff
  }

  /** Sets all digests to those of random blobs among `count` from `from` on. */
  setRandom(from: number, count: number): void {
    for (let i = 0; i < this.count; i++) this.set(i, from + Math.floor(Math.random() * count))
  }
}
