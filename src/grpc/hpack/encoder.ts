/**
 * Header lists to header blocks (RFC 7541, section 6).
 *
 * What repeats is indexed and is one byte the next time; what changes with every message goes out as it is, for in the
 * table it would only push out the rest. Credentials are marked so that nobody on the way may index them either.
 */
import { encodeHuffman, huffmanLength } from './huffman.ts'
import { type Prefix, writeInteger } from './integer.ts'
import { FIRST_DYNAMIC_INDEX, STATIC_FIELDS } from './static-table.ts'
import { FIELD_OVERHEAD } from './table-field.ts'

export type OutgoingField = readonly [name: string, value: string]

/** Both what a peer allows until it says otherwise and the most that we ever use. */
const MOST_TABLE_BYTES = 4096
/** An integer below 2^28 behind its prefix. */
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

/** Static indices by whole field, and by name the first of that name. */
const STATIC_BY_FIELD = new Map<string, number>()
const STATIC_BY_NAME = new Map<string, number>()
for (const [position, { name, value }] of STATIC_FIELDS.entries()) {
  STATIC_BY_FIELD.set(keyOf(name, value), position + 1)
  if (!STATIC_BY_NAME.has(name)) STATIC_BY_NAME.set(name, position + 1)
}

interface Entry {
  readonly name: string
  readonly bytes: number
  /** Counts the insertions on this connection; an index is the distance to the newest. */
  readonly number: number
}

export class HpackEncoder {
  /** The table itself: a Map keeps its entries in the order they came, so the oldest is the first. */
  readonly #entries = new Map<string, Entry>()
  /** The number of the newest entry of each name. */
  readonly #newestByName = new Map<string, number>()
  #inserted = 0
  #bytes = 0
  #limitBytes = MOST_TABLE_BYTES
  /** What the peer's decoder goes by until the next block tells it otherwise. */
  #announcedBytes = MOST_TABLE_BYTES
  /** The lowest limit since then: entries dropped there are gone, even if the limit rose again. */
  #lowestBytes = MOST_TABLE_BYTES

  /** The peer's SETTINGS_HEADER_TABLE_SIZE. */
  setMaxTableBytes(bytes: number): void {
    this.#limitBytes = Math.min(bytes, MOST_TABLE_BYTES)
    this.#lowestBytes = Math.min(this.#lowestBytes, this.#limitBytes)
    this.#evictDownTo(this.#limitBytes)
  }

  /** Writes the block at `offset`, where there must be room for `encodedBound(fields)`; answers the offset after it. */
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
    const index = this.#indexOfField(name, value)
    if (index !== undefined) return writeInteger(index, INDEXED, target, offset)
    const bytes = name.length + value.length + FIELD_OVERHEAD
    const form = bytes > this.#limitBytes && !SECRET_NAMES.has(name) ? NOT_INDEXED : literalForm(name)
    const nameIndex = this.#indexOfName(name) ?? 0
    let at = writeInteger(nameIndex, form, target, offset)
    if (nameIndex === 0) at = writeString(name, target, at)
    at = writeString(value, target, at)
    if (form === TO_INDEX) this.#insert(name, value, bytes)
    return at
  }

  #indexOfField(name: string, value: string): number | undefined {
    const key = keyOf(name, value)
    const entry = this.#entries.get(key)
    return entry === undefined ? STATIC_BY_FIELD.get(key) : this.#indexOf(entry.number)
  }

  #indexOfName(name: string): number | undefined {
    const fixed = STATIC_BY_NAME.get(name)
    if (fixed !== undefined) return fixed
    const newest = this.#newestByName.get(name)
    return newest === undefined ? undefined : this.#indexOf(newest)
  }

  #indexOf(number: number): number {
    return FIRST_DYNAMIC_INDEX + this.#inserted - number
  }

  #insert(name: string, value: string, bytes: number): void {
    this.#evictDownTo(this.#limitBytes - bytes)
    const number = ++this.#inserted
    this.#entries.set(keyOf(name, value), { name, bytes, number })
    this.#newestByName.set(name, number)
    this.#bytes += bytes
  }

  #evictDownTo(bytes: number): void {
    for (const [key, { name, bytes: freed, number }] of this.#entries) {
      if (this.#bytes <= bytes) return
      this.#entries.delete(key)
      if (this.#newestByName.get(name) === number) this.#newestByName.delete(name)
      this.#bytes -= freed
    }
  }
}

/** No block for these fields is longer, whatever the tables hold. */
export function encodedBound(fields: readonly OutgoingField[]): number {
  let bound = 2 * LONGEST_INTEGER // two updates of the table's size
  for (const [name, value] of fields) bound += 3 * LONGEST_INTEGER + name.length + value.length
  return bound
}

/** A name contains no NUL, so no two fields share a key. */
function keyOf(name: string, value: string): string {
  return `${name}\0${value}`
}

function literalForm(name: string): Prefix {
  if (SECRET_NAMES.has(name)) return NEVER_INDEXED
  return VOLATILE_NAMES.has(name) || name.endsWith(VOLATILE_ENDING) ? NOT_INDEXED : TO_INDEX
}

/** Characters are Latin-1; the caller has seen to that. */
function writeString(text: string, target: Uint8Array, offset: number): number {
  const coded = huffmanLength(text)
  if (coded < text.length) return encodeHuffman(text, target, writeInteger(coded, HUFFMAN_STRING, target, offset))
  let at = writeInteger(text.length, PLAIN_STRING, target, offset)
  for (let i = 0; i < text.length; i++) target[at++] = text.charCodeAt(i)
  return at
}
