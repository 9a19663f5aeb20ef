/**
 * Decodes header blocks to header lists (RFC 7541, sections 3 and 6).
 *
 * A gRPC client sends nearly the same fields with every call. If it indexes all of them, the block is a dozen bytes
 * that repeat until the table changes: such blocks are looked up as a whole, and the cached list is returned. If a
 * field changes (a deadline, a trace), each other field still costs one array read, because the tables contain complete
 * fields. The new field is decoded into a scratch buffer, checked there, and converted to a string once. When the list
 * exceeds its limit, the rest of the block is still read, because the table must stay equal to the peer's, but strings
 * are built only for fields that enter the table.
 */
import { ByteCache } from './byte-cache.ts'
import { DynamicTable } from './dynamic-table.ts'
import type { HeaderField, HeaderList } from './header-field.ts'
import { HpackError } from './hpack-error.ts'
import { Cursor } from './integer.ts'
import { FIRST_DYNAMIC_INDEX, STATIC_FIELDS } from './static-table.ts'
import { StringLiteral } from './string-literal.ts'
import { FIELD_OVERHEAD, type FieldName, type TableField, tableField, toFieldName } from './table-field.ts'

/** The table's size before any SETTINGS or update (RFC 9113, section 6.5.2). */
const INITIAL_TABLE_BYTES = 4096
/** The lowest size of the table between two blocks, and the last one (RFC 7541, section 4.2). */
const MOST_SIZE_UPDATES = 2
const LONGEST_CACHED_BLOCK = 32

// Decoding a block is synchronous, so all connections share these objects.
const cursor = new Cursor()
const literal = new StringLiteral()
/** Names that were sent as literals, by their encoded bytes, so that a repeated name need not be decoded. */
const names = new ByteCache<FieldName>(256, 64)

export class HpackDecoder {
  readonly #maxTableBytes: number
  readonly #maxListBytes: number
  readonly #table: DynamicTable
  readonly #blocks = new ByteCache<HeaderList>(64, LONGEST_CACHED_BLOCK)
  #blocksGeneration = 0
  #literalBytes = 0

  /**
   * `maxTableBytes` is our SETTINGS_HEADER_TABLE_SIZE. The peer may use up to 4096 bytes at once, and more after an
   * update. Less than 4096 is valid only if the peer received the setting before its first block.
   */
  constructor({ maxTableBytes, maxListBytes }: { maxTableBytes: number; maxListBytes: number }) {
    this.#maxTableBytes = maxTableBytes
    this.#maxListBytes = maxListBytes
    this.#table = new DynamicTable(maxTableBytes, Math.min(INITIAL_TABLE_BYTES, maxTableBytes))
  }

  /** Decodes one complete header block, bytes [start, end) of `block`. */
  decode(block: Uint8Array, start: number, end: number): HeaderList {
    if (end - start > LONGEST_CACHED_BLOCK) return this.#read(block, start, end)
    const blocks = this.#blocks
    if (this.#blocksGeneration !== this.#table.generation) {
      this.#blocksGeneration = this.#table.generation
      blocks.clear()
    }
    const known = blocks.get(block, start, end)
    if (known !== undefined) return known
    const list = this.#read(block, start, end)
    if (onlyShortIndices(block, start, end)) blocks.set(block, start, end, list)
    return list
  }

  #read(block: Uint8Array, start: number, end: number): HeaderList {
    cursor.open(block, start, end)
    this.#sizeUpdates()
    const fields: HeaderField[] = []
    let bytes = 0
    let room = this.#maxListBytes
    while (cursor.at < end) {
      const field = this.#field(block[cursor.at] as number, room)
      const size = field === undefined ? this.#literalBytes : field.bytes
      bytes += size
      if (size <= room) {
        room -= size
        fields.push(field as TableField)
      } else {
        room = -1 // full: a smaller field that comes later must not be added
      }
    }
    return { fields, bytes, overflowed: room < 0, understood: undefined }
  }

  #sizeUpdates(): void {
    for (let updates = 0; cursor.at < cursor.end; updates++) {
      if (((cursor.block[cursor.at] as number) & 0xe0) !== 0x20) return
      if (updates === MOST_SIZE_UPDATES) throw new HpackError('a header block begins with too many table size updates')
      const bytes = cursor.integer(0x1f)
      if (bytes > this.#maxTableBytes) throw new HpackError('a table size update is over the limit that we set')
      this.#table.limit(bytes)
    }
  }

  /** Reads the next field. Returns undefined for a literal of `#literalBytes` that exceeds the limit. */
  #field(first: number, room: number): TableField | undefined {
    if (first >= 0x80) return this.#indexed(cursor.integer(0x7f))
    if (first >= 0x40) return this.#literalToIndex(room)
    if (first >= 0x20) throw new HpackError('a table size update stands behind a field')
    // Never-indexed (0x10) differs from not indexed only for intermediaries.
    return this.#literal(cursor.integer(0x0f), room)
  }

  #indexed(index: number): TableField {
    const field = index < FIRST_DYNAMIC_INDEX ? STATIC_FIELDS[index - 1] : this.#table.get(index - FIRST_DYNAMIC_INDEX)
    if (field === undefined) throw new HpackError(`a header block refers to index ${index}, which is empty`)
    return field
  }

  #literalToIndex(room: number): TableField | undefined {
    const index = cursor.integer(0x3f)
    const field = this.#literal(index, Math.max(room, this.#table.limitBytes))
    if (field === undefined) this.#table.empty()
    else this.#table.insert(field)
    return field
  }

  /** Reads a literal; builds the field only if it is at most `wantedBytes`. */
  #literal(nameIndex: number, wantedBytes: number): TableField | undefined {
    const fieldName = nameIndex === 0 ? readName() : this.#indexed(nameIndex).fieldName
    literal.read(cursor)
    this.#literalBytes = fieldName.text.length + literal.length + FIELD_OVERHEAD
    return this.#literalBytes > wantedBytes ? undefined : tableField(fieldName, literal.text())
  }
}

function readName(): FieldName {
  const start = cursor.at
  cursor.skipString()
  const known = names.get(cursor.block, start, cursor.at)
  if (known !== undefined) return known
  cursor.at = start
  literal.read(cursor)
  const name = toFieldName(literal.text())
  names.set(cursor.block, start, cursor.at, name)
  return name
}

/**
 * Whether the block contains only indices of one byte: then decoding it again changes nothing and returns the same
 * list. An index of several bytes ends with a byte below 0x80, and is not counted.
 */
function onlyShortIndices(block: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if ((block[i] as number) <= 0x80) return false
  return true
}
