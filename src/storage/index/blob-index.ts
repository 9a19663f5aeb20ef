// biome-ignore-all lint/complexity/useMaxParams: a key object per call would cost more than the call
/**
 * The index of stored blobs: from (tag, hash, size), or from (tag, hash) alone, to a record with (pack, offset, stored
 * bytes, flags, touch).
 *
 * It is entirely in memory, with at most 64 bytes per blob: 58 in its record (records.ts), the rest in the slots
 * (slots.ts). Nothing is allocated per blob, the index is never copied as a whole, and no call takes longer than
 * distributing one group of 2,000 entries. Memory is not freed; removed records are reused.
 *
 * A record number belongs to one blob until the blob is removed, and may be reused after that: code that keeps a number
 * across an await looks the blob up again, or compares the key. The first 32 bytes of a hash are stored here. The whole
 * key is in the record header in the pack, which is authoritative.
 *
 * There is one writer. The buffers are shared, so that other threads may read them in the future. Readers in other
 * threads have these guarantees: a word is never torn, records never move, and a record that contains the key of the
 * lookup belonged to that blob. There is no other guarantee: a blob may seem absent while its group is distributed, and
 * a position may be read while it changes. So such a reader must check the position against the header in the pack, and
 * must ask the writer before it reports a blob as absent.
 */
import type { DigestList } from '../../base/digest.ts'
import { KEY_WORDS } from './key-hash.ts'
import { Records, WORD } from './records.ts'
import { HashSlots } from './slots.ts'

export interface BlobIndexOptions {
  /** The expected number of blobs, to allocate memory once. */
  readonly expected?: number
  /** Records per allocation: a power of two. */
  readonly segmentRecords?: number
  /** Two secret 32-bit numbers of this process; random by default. */
  readonly seed?: readonly [number, number]
}

export interface BlobLocation {
  readonly pack: number
  /** In units of 8 bytes. */
  readonly offset: number
  /** At most 2^40 - 1. */
  readonly storedBytes: number
  /** One byte; see blob-flags.ts. */
  readonly flags: number
}

/** Bytes of a hash that are stored. */
export const KEPT_HASH_BYTES = 32
const KEPT_WORDS = KEPT_HASH_BYTES / 4
const TWO_32 = 2 ** 32
const MOST_SIZE = 2 ** 48 - 1
const MOST_STORED = 2 ** 40 - 1
/**
 * The most blobs with one hash and different sizes. They share a place in the slots, so there must be few. They exist
 * only if a digest function is broken or blobs are stored unchecked. Then it is better not to store some of them than
 * to make every lookup near them slow.
 */
const MOST_SIZES = 64
/** Digests that are looked up together: enough to overlap the memory accesses, few enough to stay in the CPU cache. */
const BATCH = 256

export class BlobIndex {
  readonly #records: Records
  readonly #slots: HashSlots
  readonly #key = new Uint32Array(KEY_WORDS)
  readonly #keys = new Uint32Array(BATCH * KEY_WORDS)
  readonly #hashes = new Uint32Array(BATCH)
  readonly #likely = new Int32Array(BATCH)

  constructor(options: BlobIndexOptions = {}) {
    const { expected = 0, segmentRecords = 2 ** 15, seed } = options
    if (!(segmentRecords > 0) || !Number.isInteger(Math.log2(segmentRecords))) {
      throw new RangeError(`segmentRecords is ${segmentRecords}, not a power of two`)
    }
    const secret = seed === undefined ? crypto.getRandomValues(new Uint32Array(2)) : Uint32Array.from(seed)
    this.#records = new Records(segmentRecords, secret)
    this.#slots = new HashSlots(this.#records, expected)
  }

  get count(): number {
    return this.#records.count
  }

  get memoryBytes(): number {
    return this.#records.bytes + this.#slots.bytes
  }

  /**
   * Returns the blob's record, or -1. The hash is `hash[at]` to `hash[at + width - 1]`; the width is a multiple of 4.
   */
  find(tag: number, hash: Uint8Array, at: number, width: number, size: number): number {
    if (!(size >= 0 && size <= MOST_SIZE)) return -1
    this.#setKey(tag, hash, at, width, size)
    return this.#slots.find(this.#key, 0, this.#records.hashOf(this.#key, 0))
  }

  /** Returns the record of a blob with that hash, of any size, or -1. */
  findByHash(tag: number, hash: Uint8Array, at: number, width: number): number {
    this.#setKey(tag, hash, at, width, 0)
    return this.#slots.findNamed(this.#key, this.#records.hashOf(this.#key, 0), 0)
  }

  /**
   * Adds a blob and returns its record. A blob that is in the index keeps its record and gets the new location. Returns
   * -1, and adds nothing, when there are already MOST_SIZES blobs with this hash.
   */
  insert(
    tag: number,
    hash: Uint8Array,
    at: number,
    width: number,
    size: number,
    location: BlobLocation,
    touch: number,
  ): number {
    const { pack, offset, storedBytes, flags } = location
    if (!(tag > 0 && tag <= 0xffff && size >= 0 && size <= MOST_SIZE)) {
      throw new RangeError(`the blob index takes no blob with tag ${tag} and size ${size}`)
    }
    if (!(isWord(pack) && isWord(offset) && storedBytes >= 0 && storedBytes <= MOST_STORED)) {
      throw new RangeError(`the blob index takes no blob of ${storedBytes} bytes at ${offset} in pack ${pack}`)
    }
    this.#setKey(tag, hash, at, width, size)
    const place = this.#records.hashOf(this.#key, 0)
    const held = this.#slots.find(this.#key, 0, place)
    if (held === -1 && this.#slots.findNamed(this.#key, place, MOST_SIZES - 1) !== -1) return -1
    const record = held === -1 ? this.#records.take() : held
    this.#records.setWord(record, WORD.pack, pack)
    this.#records.setWord(record, WORD.offset, offset)
    this.#records.setWord(record, WORD.storedLow, storedBytes)
    this.#records.setWord(record, WORD.touch, touch)
    this.#records.setExtra(record, (Math.floor(storedBytes / TWO_32) << 8) | flags)
    if (held !== -1) return record
    this.#records.setKey(record, this.#key)
    this.#slots.add(record, place)
    return record
  }

  remove(record: number): void {
    if (!this.#records.isLive(record)) throw new RangeError(`record ${record} of the blob index is not in use`)
    this.#slots.remove(record, this.#records.hash(record))
    this.#records.free(record)
  }

  /**
   * Sets `absent[i]` to 1 for each digest that is not stored. Sets it to 0 for each stored one, and touches that blob.
   * The tag combines the digest function and the space.
   */
  missing(tag: number, list: DigestList, absent: Uint8Array, seconds: number): void {
    const words = wordsOf(list.hashes)
    for (let from = 0; from < list.count; from += BATCH) {
      const count = Math.min(BATCH, list.count - from)
      this.#setKeys(tag, list, words, from, count)
      this.#slots.likely(this.#hashes, count, this.#likely)
      for (let i = 0; i < count; i++) {
        const record = this.#confirm(i)
        absent[from + i] = record === -1 ? 1 : 0
        if (record !== -1) this.#records.setWord(record, WORD.touch, seconds)
      }
    }
  }

  /** Returns the record of key `i` of the batch, or -1. */
  #confirm(i: number): number {
    const likely = this.#likely[i] as number
    if (likely === 0) return -1
    const from = i * KEY_WORDS
    if (this.#records.holds(likely, this.#keys, from)) return likely
    return this.#slots.find(this.#keys, from, this.#hashes[i] as number)
  }

  #setKeys(tag: number, list: DigestList, words: Uint32Array, from: number, count: number): void {
    const keys = this.#keys
    const width = list.width >>> 2
    const kept = Math.min(width, KEPT_WORDS)
    for (let i = 0; i < count; i++) {
      const key = i * KEY_WORDS
      const at = (from + i) * width
      const size = list.sizes[from + i] as number
      for (let word = 0; word < kept; word++) keys[key + word] = words[at + word] as number
      for (let word = kept; word < KEPT_WORDS; word++) keys[key + word] = 0
      keys[key + WORD.sizeLow] = size
      keys[key + WORD.sizeHighAndTag] = size <= MOST_SIZE ? ((size / TWO_32) << 16) | tag : 0
      this.#hashes[i] = this.#records.hashOf(keys, key)
    }
  }

  #setKey(tag: number, hash: Uint8Array, at: number, width: number, size: number): void {
    const key = this.#key
    const kept = width < KEPT_HASH_BYTES ? width >>> 2 : KEPT_WORDS
    for (let word = 0, i = at; word < kept; word++, i += 4) {
      const low = (hash[i] as number) | ((hash[i + 1] as number) << 8)
      key[word] = low | ((hash[i + 2] as number) << 16) | ((hash[i + 3] as number) << 24)
    }
    for (let word = kept; word < KEPT_WORDS; word++) key[word] = 0
    key[WORD.sizeLow] = size
    key[WORD.sizeHighAndTag] = ((size / TWO_32) << 16) | tag
  }

  tag(record: number): number {
    return this.#records.word(record, WORD.sizeHighAndTag) & 0xffff
  }

  size(record: number): number {
    const high = this.#records.word(record, WORD.sizeHighAndTag) >>> 16
    return high * TWO_32 + this.#records.word(record, WORD.sizeLow)
  }

  /** Copies the first 32 bytes of the hash; a shorter hash is zero-padded. */
  copyHash(record: number, target: Uint8Array, at: number): void {
    for (let word = 0; word < KEPT_WORDS; word++) {
      const value = this.#records.word(record, word)
      const to = at + word * 4
      target[to] = value
      target[to + 1] = value >>> 8
      target[to + 2] = value >>> 16
      target[to + 3] = value >>> 24
    }
  }

  pack(record: number): number {
    return this.#records.word(record, WORD.pack)
  }

  offset(record: number): number {
    return this.#records.word(record, WORD.offset)
  }

  storedBytes(record: number): number {
    return (this.#records.extra(record) >>> 8) * TWO_32 + this.#records.word(record, WORD.storedLow)
  }

  flags(record: number): number {
    return this.#records.extra(record) & 0xff
  }

  touch(record: number): number {
    return this.#records.word(record, WORD.touch)
  }

  move(record: number, pack: number, offset: number): void {
    if (!(isWord(pack) && isWord(offset))) throw new RangeError(`the blob index has no place ${offset} in pack ${pack}`)
    this.#records.setWord(record, WORD.pack, pack)
    this.#records.setWord(record, WORD.offset, offset)
  }

  setFlags(record: number, flags: number): void {
    this.#records.setExtra(record, (this.#records.extra(record) & 0xff00) | flags)
  }

  setTouch(record: number, seconds: number): void {
    this.#records.setWord(record, WORD.touch, seconds)
  }

  /**
   * Visits the live records among the next `most` from `from` on (0 at first). Returns where to continue, or -1 at the
   * end. Blobs that are added or removed between two calls may be visited or not; all others are visited once.
   *
   * To find the records of one pack, read the pack: its headers contain the keys, and a record that `find` returns
   * belongs to the pack if it has that pack and offset.
   */
  iterate(from: number, most: number, visit: (record: number) => void): number {
    const end = Math.min(from + most, this.#records.end)
    for (let record = Math.max(from, 1); record < end; record++) {
      if (this.#records.isLive(record)) visit(record)
    }
    return end < this.#records.end ? end : -1
  }
}

const isWord = (value: number): boolean => value >>> 0 === value

/**
 * Views the hashes as 32-bit words. Requires a little-endian machine; otherwise `find` and `missing` would disagree.
 */
function wordsOf(hashes: Uint8Array): Uint32Array {
  const aligned = hashes.byteOffset % 4 === 0 ? hashes : new Uint8Array(hashes)
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >>> 2)
}
