/**
 * Writes header blocks like the encoders of the usual clients. A field that is in a table is an index. Any other field
 * is a literal that is added to the dynamic table and evicts the oldest entries. A field that changes with every call
 * also evicts the stable ones, so that these are literals again a few calls later. The writer and its reader have the
 * same table, so blocks must be sent in the order in which they were written.
 */
import { huffmanEncode } from './huffman-writer.ts'

const TABLE_BYTES = 4096
const ENTRY_OVERHEAD_BYTES = 32
const STATIC_ENTRIES = 61
const MOST_BLOCK_BYTES = 2048

/** The entries of the static table (RFC 7541, appendix A) that these requests use. */
const STATIC_FIELDS = new Map([
  [':method POST', 3],
  [':scheme http', 6],
])
const STATIC_NAMES = new Map([
  [':authority', 1],
  [':path', 4],
  ['content-type', 31],
  ['user-agent', 58],
])

export type Field = readonly [name: string, value: string]

export class HpackWriter {
  readonly #huffman: boolean
  /** From the whole field to its number, oldest first: the first key is evicted next. */
  readonly #fields = new Map<string, number>()
  /** The newest number of a name; valid only while that entry is in the table. */
  readonly #names = new Map<string, number>()
  readonly #block = Buffer.alloc(MOST_BLOCK_BYTES)
  #at = 0
  #inserted = 0
  #bytes = 0

  constructor(huffman: boolean) {
    this.#huffman = huffman
  }

  /** Returns a view that is valid until the next block is written. */
  write(fields: readonly Field[]): Buffer {
    this.#at = 0
    for (const [name, value] of fields) this.#field(name, value)
    return this.#block.subarray(0, this.#at)
  }

  #field(name: string, value: string): void {
    const key = `${name} ${value}`
    const known = STATIC_FIELDS.get(key) ?? this.#index(this.#fields.get(key))
    if (known !== undefined) {
      this.#integer(0x80, 7, known)
      return
    }
    // Evict first: the name must not refer to an entry that this insertion evicts.
    this.#makeRoom(sizeOf(key))
    const nameIndex = STATIC_NAMES.get(name) ?? this.#index(this.#names.get(name))
    this.#integer(0x40, 6, nameIndex ?? 0)
    if (nameIndex === undefined) this.#text(name)
    this.#text(value)
    this.#inserted++
    this.#fields.set(key, this.#inserted)
    this.#names.set(name, this.#inserted)
  }

  #index(number: number | undefined): number | undefined {
    const oldest = this.#inserted - this.#fields.size + 1
    if (number === undefined || number < oldest) return undefined
    return STATIC_ENTRIES + 1 + this.#inserted - number
  }

  #makeRoom(bytes: number): void {
    for (const key of this.#fields.keys()) {
      if (this.#bytes + bytes <= TABLE_BYTES) break
      this.#fields.delete(key)
      this.#bytes -= sizeOf(key)
    }
    this.#bytes += bytes
  }

  #text(text: string): void {
    const coded = this.#huffman ? huffmanEncode(text) : undefined
    if (coded !== undefined && coded.length < text.length) {
      this.#integer(0x80, 7, coded.length)
      this.#block.set(coded, this.#at)
      this.#at += coded.length
      return
    }
    this.#integer(0, 7, text.length)
    this.#at += this.#block.write(text, this.#at, 'latin1')
  }

  /** RFC 7541, section 5.1: the part that does not fit the prefix follows in groups of seven bits. */
  #integer(pattern: number, prefixBits: number, value: number): void {
    const most = (1 << prefixBits) - 1
    this.#block[this.#at++] = pattern | Math.min(value, most)
    if (value < most) return
    let rest = value - most
    for (; rest > 0x7f; rest >>>= 7) this.#block[this.#at++] = 0x80 | (rest & 0x7f)
    this.#block[this.#at++] = rest
  }
}

/** The size of an entry in the table. The key has one character, the space, that is in neither name nor value. */
const sizeOf = (key: string): number => ENTRY_OVERHEAD_BYTES + key.length - 1
