/**
 * Encodes header lists to header blocks (RFC 7541, section 6).
 *
 * Fields that repeat are added to the dynamic table and take one byte the next time. Fields that change with every
 * message are sent as literals, because in the table they would only evict others. Credentials are marked "never
 * indexed" (section 6.2.3), so that proxies do not index them either.
 */
import { encodeHuffman, huffmanLength } from './huffman.ts'
import { type Prefix, writeInteger } from './integer.ts'
import { FIRST_DYNAMIC_INDEX, STATIC_FIELDS } from './static-table.ts'
import { FIELD_OVERHEAD } from './table-field.ts'

export type OutgoingField = readonly [name: string, value: string]

/** The default size of the protocol, which is also the largest table that we use. */
const MOST_TABLE_BYTES = 4096
/** The most bytes of an integer below 2^28, with its prefix. */
const LONGEST_INTEGER = 5

const INDEXED: Prefix = { pattern: 0x80, mask: 0x7f }
const TO_INDEX: Prefix = { pattern: 0x40, mask: 0x3f }
const TABLE_SIZE: Prefix = { pattern: 0x20, mask: 0x1f }
const NEVER_INDEXED: Prefix = { pattern: 0x10, mask: 0x0f }
const NOT_INDEXED: Prefix = { pattern: 0x00, mask: 0x0f }
const HUFFMAN_STRING: Prefix = { pattern: 0x80, mask: 0x7f }
const PLAIN_STRING: Prefix = { pattern: 0x00, mask: 0x7f }

const SECRET_NAMES: ReadonlySet<string> = new Set(['authorization'])
const VOLATILE_NAMES: ReadonlySet<string> = new Set(['grpc-timeout', 'grpc-message', 'content-length', 'date'])
const VOLATILE_ENDING = '-bin'

/** The positions of one name in a table: one for the name alone, and one for each value. */
interface Places {
  any: number
  readonly byValue: Map<string, number>
}

const STATIC_PLACES = new Map<string, Places>()
for (const [position, { name, value }] of STATIC_FIELDS.entries()) {
  const places = STATIC_PLACES.get(name) ?? { any: position + 1, byValue: new Map<string, number>() }
  STATIC_PLACES.set(name, places)
  places.byValue.set(value, position + 1)
}

interface Entry {
  readonly name: string
  readonly value: string
  readonly bytes: number
}

export class HpackEncoder {
  /**
   * The entries by the number of their insertion, oldest first. The index of an entry is its distance from the newest.
   */
  readonly #entries = new Map<number, Entry>()
  /** The numbers of the same entries; `any` is the newest of a name. */
  readonly #places = new Map<string, Places>()
  #inserted = 0
  #bytes = 0
  #limitBytes = MOST_TABLE_BYTES
  /** The table size of the peer's decoder until the next block changes it. */
  #announcedBytes = MOST_TABLE_BYTES
  /** The lowest limit since the last block: entries that it evicted stay evicted, even if the limit rose again. */
  #lowestBytes = MOST_TABLE_BYTES

  /** The peer's SETTINGS_HEADER_TABLE_SIZE. */
  setMaxTableBytes(bytes: number): void {
    this.#limitBytes = Math.min(bytes, MOST_TABLE_BYTES)
    this.#lowestBytes = Math.min(this.#lowestBytes, this.#limitBytes)
    this.#evictDownTo(this.#limitBytes)
  }

  /** Writes the block at `offset`, where `encodedBound(fields)` bytes must be free; returns the offset after it. */
  encode(fields: readonly OutgoingField[], target: Uint8Array, offset: number): number {
    let at = this.#writeSizeUpdates(target, offset)
    for (const field of fields) at = this.#writeField(field, target, at)
    return at
  }

  #writeSizeUpdates(target: Uint8Array, offset: number): number {
    let at = offset
    if (this.#lowestBytes < Math.min(this.#limitBytes, this.#announcedBytes)) {
      at = writeInteger(this.#lowestBytes, TABLE_SIZE, target, at)
      this.#announcedBytes = this.#lowestBytes
    }
    if (this.#limitBytes !== this.#announcedBytes) at = writeInteger(this.#limitBytes, TABLE_SIZE, target, at)
    this.#announcedBytes = this.#limitBytes
    this.#lowestBytes = this.#limitBytes
    return at
  }

  #writeField([name, value]: OutgoingField, target: Uint8Array, offset: number): number {
    const fixed = STATIC_PLACES.get(name)
    const fixedIndex = fixed?.byValue.get(value)
    if (fixedIndex !== undefined) return writeInteger(fixedIndex, INDEXED, target, offset)
    const recent = this.#places.get(name)
    const number = recent?.byValue.get(value)
    if (number !== undefined) return writeInteger(this.#indexOf(number), INDEXED, target, offset)

    const nameIndex = fixed?.any ?? (recent === undefined ? 0 : this.#indexOf(recent.any))
    const entry: Entry = { name, value, bytes: name.length + value.length + FIELD_OVERHEAD }
    const form = literalForm(entry, this.#limitBytes)
    let at = writeInteger(nameIndex, form, target, offset)
    if (nameIndex === 0) at = writeString(name, target, at)
    at = writeString(value, target, at)
    if (form === TO_INDEX) this.#insert(entry)
    return at
  }

  #indexOf(number: number): number {
    return FIRST_DYNAMIC_INDEX + this.#inserted - number
  }

  #insert(entry: Entry): void {
    this.#evictDownTo(this.#limitBytes - entry.bytes)
    const number = ++this.#inserted
    this.#entries.set(number, entry)
    this.#bytes += entry.bytes
    const places = this.#places.get(entry.name) ?? { any: number, byValue: new Map<string, number>() }
    this.#places.set(entry.name, places)
    places.any = number
    places.byValue.set(entry.value, number)
  }

  #evictDownTo(limit: number): void {
    for (const [number, { name, value, bytes }] of this.#entries) {
      if (this.#bytes <= limit) return
      this.#entries.delete(number)
      this.#bytes -= bytes
      const places = this.#places.get(name) as Places
      places.byValue.delete(value)
      if (places.any === number) this.#places.delete(name) // the newest of its name is evicted last
    }
  }
}

/** The most bytes of a block with these fields, with any table. */
export function encodedBound(fields: readonly OutgoingField[]): number {
  let bound = 2 * LONGEST_INTEGER // two updates of the table size
  for (const [name, value] of fields) bound += 3 * LONGEST_INTEGER + name.length + value.length
  return bound
}

function literalForm({ name, bytes }: Entry, tableBytes: number): Prefix {
  if (SECRET_NAMES.has(name)) return NEVER_INDEXED
  const passing = bytes > tableBytes || VOLATILE_NAMES.has(name) || name.endsWith(VOLATILE_ENDING)
  return passing ? NOT_INDEXED : TO_INDEX
}

/** The caller guarantees Latin-1 characters. */
function writeString(text: string, target: Uint8Array, offset: number): number {
  const coded = huffmanLength(text)
  if (coded < text.length) return encodeHuffman(text, target, writeInteger(coded, HUFFMAN_STRING, target, offset))
  let at = writeInteger(text.length, PLAIN_STRING, target, offset)
  for (let i = 0; i < text.length; i++) target[at++] = text.charCodeAt(i)
  return at
}
