/**
 * The decoder's table of fields that the peer has sent on this connection (RFC 7541, section 2.3.2).
 *
 * It is a ring: the newest field is at the head, an insertion moves the head and an eviction the tail, and no entry is
 * moved. Clients that index a field that changes with every call cause both with every call.
 */
import { FIELD_OVERHEAD, type TableField } from './table-field.ts'

export class DynamicTable {
  /** Incremented with every change, to invalidate blocks that were decoded with an older table. */
  generation = 0
  readonly #ring: (TableField | undefined)[]
  readonly #mask: number
  #head = 0
  #count = 0
  #bytes = 0
  #limitBytes: number

  /** `mostBytes` is the highest possible limit, `limitBytes` the initial limit. */
  constructor(mostBytes: number, limitBytes: number) {
    const slots = 2 ** Math.ceil(Math.log2(Math.max(1, mostBytes / FIELD_OVERHEAD)))
    this.#ring = new Array<TableField | undefined>(slots).fill(undefined)
    this.#mask = slots - 1
    this.#limitBytes = limitBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  get limitBytes(): number {
    return this.#limitBytes
  }

  /** Returns a field by its age; 0 is the newest. */
  get(age: number): TableField | undefined {
    return age < this.#count ? this.#ring[(this.#head - age) & this.#mask] : undefined
  }

  /** A field larger than the whole table empties it and is not stored; this is no error (RFC 7541, section 4.4). */
  insert(field: TableField): void {
    this.generation++
    this.#evictDownTo(this.#limitBytes - field.bytes)
    if (field.bytes > this.#limitBytes) return
    this.#head = (this.#head + 1) & this.#mask
    this.#ring[this.#head] = field
    this.#count++
    this.#bytes += field.bytes
  }

  /** The effect of inserting a field that is too large, without building the field. */
  empty(): void {
    this.generation++
    this.#evictDownTo(0)
  }

  limit(bytes: number): void {
    this.generation++
    this.#limitBytes = bytes
    this.#evictDownTo(bytes)
  }

  #evictDownTo(bytes: number): void {
    while (this.#bytes > bytes && this.#count > 0) {
      this.#count--
      const tail = (this.#head - this.#count) & this.#mask
      this.#bytes -= (this.#ring[tail] as TableField).bytes
      this.#ring[tail] = undefined
    }
  }
}
