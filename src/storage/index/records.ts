/**
 * The records of the blob index: 58 bytes each, in segments that are allocated one at a time and never move.
 *
 *   word 0–7    the first 32 bytes of the hash, little-endian; a shorter hash is zero-padded
 *   word 8      the low 32 bits of the size
 *   word 9      the high 16 bits of the size, then the 16 bits of the tag; the tag of a free record is 0
 *   word 10     pack
 *   word 11     offset in the pack, in units of 8 bytes
 *   word 12     stored bytes, the low 32 bits
 *   word 13     last touch, in seconds
 *   extra       stored bytes, the high 8 bits, then the 8 flags: two bytes, behind the words of the whole segment
 *
 * Words 0–9 are the key. All of the key but the size determines its slot (key-hash.ts). Word 0 of a free record is the
 * number of the next free record. Record 0 is never used, so that 0 can mean none.
 */
import { HASH_WORDS, hashKey, KEY_WORDS } from './key-hash.ts'

export const WORD = { sizeLow: 8, sizeHighAndTag: 9, pack: 10, offset: 11, storedLow: 12, touch: 13 } as const

const RECORD_WORDS = 14
const RECORD_BYTES = RECORD_WORDS * 4 + 2

/** The number of a record has 27 bits in a slot. */
const MOST_RECORDS = 2 ** 27

export class Records {
  /** The highest record number ever used, plus one. */
  end = 1
  count = 0
  bytes = 0
  /** Prevents the compiler from optimizing away the reads of `warm`. */
  warmth = 0
  readonly #words: Uint32Array[] = []
  readonly #extras: Uint16Array[] = []
  readonly #perSegment: number
  readonly #shift: number
  readonly #mask: number
  readonly #seed: Uint32Array
  #freed = 0

  /** `perSegment` is a power of two. */
  constructor(perSegment: number, seed: Uint32Array) {
    this.#perSegment = perSegment
    this.#shift = Math.log2(perSegment)
    this.#mask = perSegment - 1
    this.#seed = seed
    this.#addSegment()
  }

  take(): number {
    this.count++
    const record = this.#freed
    if (record === 0) return this.#takeFresh()
    this.#freed = this.word(record, 0)
    return record
  }

  #takeFresh(): number {
    if (this.end === MOST_RECORDS) throw new RangeError(`the blob index is full: it holds ${this.end - 1} blobs`)
    if (this.end >>> this.#shift === this.#words.length) this.#addSegment()
    return this.end++
  }

  #addSegment(): void {
    const shared = new SharedArrayBuffer(this.#perSegment * RECORD_BYTES)
    this.#words.push(new Uint32Array(shared, 0, this.#perSegment * RECORD_WORDS))
    this.#extras.push(new Uint16Array(shared, this.#perSegment * RECORD_WORDS * 4))
    this.bytes += shared.byteLength
  }

  free(record: number): void {
    this.setWord(record, WORD.sizeHighAndTag, 0)
    this.setWord(record, 0, this.#freed)
    this.#freed = record
    this.count--
  }

  isLive(record: number): boolean {
    return record > 0 && record < this.end && (this.word(record, WORD.sizeHighAndTag) & 0xffff) !== 0
  }

  word(record: number, field: number): number {
    const words = this.#words[record >>> this.#shift] as Uint32Array
    return words[(record & this.#mask) * RECORD_WORDS + field] as number
  }

  setWord(record: number, field: number, value: number): void {
    const words = this.#words[record >>> this.#shift] as Uint32Array
    words[(record & this.#mask) * RECORD_WORDS + field] = value
  }

  extra(record: number): number {
    return (this.#extras[record >>> this.#shift] as Uint16Array)[record & this.#mask] as number
  }

  setExtra(record: number, value: number): void {
    const extras = this.#extras[record >>> this.#shift] as Uint16Array
    extras[record & this.#mask] = value
  }

  setKey(record: number, key: Uint32Array): void {
    const words = this.#words[record >>> this.#shift] as Uint32Array
    const at = (record & this.#mask) * RECORD_WORDS
    for (let i = 0; i < KEY_WORDS; i++) words[at + i] = key[i] as number
  }

  /** Whether the record's key is the one at `keys[from]`. */
  holds(record: number, keys: Uint32Array, from: number): boolean {
    const words = this.#words[record >>> this.#shift] as Uint32Array
    const at = (record & this.#mask) * RECORD_WORDS
    for (let i = 0; i < KEY_WORDS; i++) if (words[at + i] !== keys[from + i]) return false
    return true
  }

  /** Whether the record's key differs from `key` at most in the size. */
  isNamed(record: number, key: Uint32Array): boolean {
    const words = this.#words[record >>> this.#shift] as Uint32Array
    const at = (record & this.#mask) * RECORD_WORDS
    for (let i = 0; i < HASH_WORDS; i++) if (words[at + i] !== key[i]) return false
    const tags = (words[at + WORD.sizeHighAndTag] as number) ^ (key[WORD.sizeHighAndTag] as number)
    return (tags & 0xffff) === 0
  }

  hash(record: number): number {
    const words = this.#words[record >>> this.#shift] as Uint32Array
    return hashKey(words, (record & this.#mask) * RECORD_WORDS, this.#seed)
  }

  /** The hash of the key at `keys[at]`. */
  hashOf(keys: Uint32Array, at: number): number {
    return hashKey(keys, at, this.#seed)
  }

  /**
   * Reads the keys of many records only to load them into the CPU cache. In this short loop the processor loads about a
   * dozen at once. The loops that use them would load one after the other, which takes four times as long.
   */
  warm(records: Int32Array, count: number): void {
    let sum = 0
    for (let i = 0; i < count; i++) {
      const record = records[i] as number
      const words = this.#words[record >>> this.#shift] as Uint32Array
      const at = (record & this.#mask) * RECORD_WORDS
      sum ^= (words[at] as number) ^ (words[at + KEY_WORDS - 1] as number) // a key often spans two cache lines
    }
    this.warmth ^= sum
  }
}
