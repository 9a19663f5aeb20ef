/**
 * The index journal restores the blob index after a restart, so that the packs need not be read.
 *
 * It is a file of blocks. A block is a header and 1 to 1023 entries of 56 bytes each. All numbers are little-endian:
 *
 *   header   0   'WIDX'                         entry   0   the first 32 bytes of the hash, zero-padded
 *            4   version u16                           32   size u48
 *            6   bytes of an entry u16                 38   tag u16 (tag.ts)
 *            8   sequence u32: 0, 1, 2 …               40   pack u32
 *           12   entries u32                           44   offset u32, in units of 8 bytes
 *           16   CRC-32 of the entries u32             48   stored bytes u40
 *           20   zeros                                 53   flags u8, the persistent ones (blob-flags.ts)
 *           52   CRC-32 of bytes 0 to 51 u32           54   kind u8
 *                                                      55   zero
 *
 *   kind     meaning                                                           uses
 *   put      the blob is at this position (and no longer at an earlier one)    all
 *   drop     the blob is absent                                                hash, size, tag
 *   move     the blob is at this position now, stored as before                hash, size, tag, pack, offset
 *   synced   the pack is on disk up to the offset                              pack, offset
 *   gone     the pack is deleted, with all blobs that it still contained       pack
 *   opened   a store opened the files; it writes nothing before this entry is on disk
 *   closed   everything is on disk; valid only as the last entry
 *
 * An incomplete block is ignored as a whole. The first incomplete block ends the journal, and the rest is truncated. A
 * snapshot is a journal of puts and of one `synced` for each pack. It may be written over many loop turns, with other
 * entries in between: a drop or move of a blob that was not put yet has no effect, because its put will have its last
 * position.
 *
 * Recovery relies on these guarantees:
 * - The entry of a blob comes after its bytes were written to the pack.
 * - A `synced` comes after the entries of all blobs before its offset. So after an unclean stop, blobs without an entry
 *   are behind both that offset and the blob of the last entry, and blobs to hash again are behind that offset.
 * - A pack number is never reused.
 */
import { crc32 } from 'node:zlib'
import { KEPT_FLAGS } from './blob-flags.ts'
import type { BlobIndex } from './blob-index.ts'

export const JOURNAL_VERSION = 1
export const MAGIC = 0x58444957
/** The size of a header and of an entry. */
export const JOURNAL_UNIT_BYTES = 56
/** The longest block is just under 56 KiB. */
export const MOST_ENTRIES = 1023

export const KIND = { put: 1, drop: 2, move: 3, synced: 4, gone: 5, opened: 6, closed: 7 } as const

export const HEADER = { magic: 0, version: 4, unit: 6, sequence: 8, entries: 12, crc: 16, headerCrc: 52 } as const
export const ENTRY = {
  sizeLow: 32,
  sizeHigh: 36,
  tag: 38,
  pack: 40,
  offset: 44,
  storedLow: 48,
  storedHigh: 52,
  flags: 53,
  kind: 54,
} as const

const TWO_32 = 2 ** 32
const FIRST_BYTES = 64 * JOURNAL_UNIT_BYTES

/** Collects entries, in order, until the store appends them to the file. */
export class JournalWriter {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(FIRST_BYTES)
  #view = new DataView(this.#bytes.buffer)
  #end = 0
  /** The start of the block that is being written. */
  #block = 0
  #entries = 0
  #sequence: number

  /** `sequence` is the number of the next block: `nextSequence` of the loaded file. */
  constructor(sequence = 0) {
    this.#sequence = sequence
  }

  /** The number of bytes that `take` would return now; 0 when there is nothing to write. */
  get bytes(): number {
    return this.#end
  }

  put(index: BlobIndex, record: number): void {
    const at = this.#add(KIND.put)
    this.#key(at, index, record)
    this.#place(at, index.pack(record), index.offset(record))
    const stored = index.storedBytes(record)
    this.#view.setUint32(at + ENTRY.storedLow, stored >>> 0, true)
    this.#view.setUint8(at + ENTRY.storedHigh, stored / TWO_32)
    this.#view.setUint8(at + ENTRY.flags, index.flags(record) & KEPT_FLAGS)
  }

  /** Must be called before the record is removed. */
  drop(index: BlobIndex, record: number): void {
    this.#key(this.#add(KIND.drop), index, record)
  }

  /** Must be called after the record was moved. */
  move(index: BlobIndex, record: number): void {
    const at = this.#add(KIND.move)
    this.#key(at, index, record)
    this.#place(at, index.pack(record), index.offset(record))
  }

  synced(pack: number, offset: number): void {
    this.#place(this.#add(KIND.synced), pack, offset)
  }

  gone(pack: number): void {
    this.#place(this.#add(KIND.gone), pack, 0)
  }

  opened(): void {
    this.#add(KIND.opened)
  }

  closed(): void {
    this.#add(KIND.closed)
  }

  /** Complete blocks with all entries since the last call; the caller owns them. */
  take(): Uint8Array<ArrayBuffer> {
    this.#seal()
    const taken = this.#bytes.slice(0, this.#end)
    this.#bytes.fill(0, 0, this.#end)
    this.#end = this.#block = 0
    return taken
  }

  #add(kind: number): number {
    if (this.#entries === MOST_ENTRIES) this.#seal()
    if (this.#end + 2 * JOURNAL_UNIT_BYTES > this.#bytes.length) this.#widen()
    if (this.#entries === 0) this.#end += JOURNAL_UNIT_BYTES
    const at = this.#end
    this.#view.setUint8(at + ENTRY.kind, kind)
    this.#end += JOURNAL_UNIT_BYTES
    this.#entries++
    return at
  }

  #widen(): void {
    const wider = new Uint8Array(this.#bytes.length * 2)
    wider.set(this.#bytes)
    this.#bytes = wider
    this.#view = new DataView(wider.buffer)
  }

  #key(at: number, index: BlobIndex, record: number): void {
    const size = index.size(record)
    index.copyHash(record, this.#bytes, at)
    this.#view.setUint32(at + ENTRY.sizeLow, size >>> 0, true)
    this.#view.setUint16(at + ENTRY.sizeHigh, size / TWO_32, true)
    this.#view.setUint16(at + ENTRY.tag, index.tag(record), true)
  }

  #place(at: number, pack: number, offset: number): void {
    this.#view.setUint32(at + ENTRY.pack, pack, true)
    this.#view.setUint32(at + ENTRY.offset, offset, true)
  }

  #seal(): void {
    if (this.#entries === 0) return
    const at = this.#block
    this.#view.setUint32(at + HEADER.magic, MAGIC, true)
    this.#view.setUint16(at + HEADER.version, JOURNAL_VERSION, true)
    this.#view.setUint16(at + HEADER.unit, JOURNAL_UNIT_BYTES, true)
    this.#view.setUint32(at + HEADER.sequence, this.#sequence++, true)
    this.#view.setUint32(at + HEADER.entries, this.#entries, true)
    this.#view.setUint32(at + HEADER.crc, crc32(this.#bytes.subarray(at + JOURNAL_UNIT_BYTES, this.#end)), true)
    this.#view.setUint32(at + HEADER.headerCrc, crc32(this.#bytes.subarray(at, at + HEADER.headerCrc)), true)
    this.#block = this.#end
    this.#entries = 0
  }
}
