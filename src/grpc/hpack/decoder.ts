/**
 * Header blocks to header lists (RFC 7541, sections 3 and 6).
 *
 * A gRPC client sends nearly the same fields with every call. Where it indexes all of them the block is a dozen bytes
 * that repeat until the table changes: such blocks are looked up whole, and the list they got the first time is given
 * out again. Where a field changes (a deadline, a trace), the rest still costs one array read each, for the tables hold
 * ready-made fields; the new one is spelled out into a scratch, judged there, and made a string once. After the list is
 * full the block is read to its end all the same, or else the table would fall out of step with the peer's, but
 * strings are built only for what goes into the table.
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
/** The lowest size the table had between two blocks, and the last one (RFC 7541, section 4.2). */
const MOST_SIZE_UPDATES = 2
const LONGEST_CACHED_BLOCK = 32

// Decoding a block is one synchronous step, so all connections share what it works with.
const cursor = new Cursor()
const literal = new StringLiteral()
/** Names that came spelled out, under the bytes that they came in: the next time they need not even be decoded. */
const names = new ByteCache<FieldName>(256, 64)

export class HpackDecoder {
  readonly #maxTableBytes: number
  readonly #maxListBytes: number
  readonly #table: DynamicTable
  readonly #blocks = new ByteCache<HeaderList>(64, LONGEST_CACHED_BLOCK)
  #blocksGeneration = 0
  #literalBytes = 0

  /**
   * `maxTableBytes` is our SETTINGS_HEADER_TABLE_SIZE. Up to 4096 bytes the peer may use at once; more than that it
   * claims by an update. Less than 4096 is sound only when the peer knew of it before its first block.
   */
  constructor({ maxTableBytes, maxListBytes }: { maxTableBytes: number; maxListBytes: number }) {
    this.#maxTableBytes = maxTableBytes
    this.#maxListBytes = maxListBytes
    this.#table = new DynamicTable(maxTableBytes, Math.min(INITIAL_TABLE_BYTES, maxTableBytes))
  }

  /** One complete header block, bytes [start, end) of `block`. */
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
        room = -1 // closed: a smaller field that comes later must not slip in
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

  /** The next field; undefined for a literal of `#literalBytes` that exceeds the limit. */
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
 * Whether there are only indices in the block: then reading it again changes nothing and gives the same. Indices of
 * several bytes end in one below 0x80 and so are not meant.
 */
function onlyShortIndices(block: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if ((block[i] as number) <= 0x80) return false
  return true
}
