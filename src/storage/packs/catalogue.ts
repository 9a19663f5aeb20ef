/**
 * The catalogue: the position of each blob. Every change of a position is made here, so that four things stay
 * consistent: the index points to existing records, each pack has the count of its live bytes, the journal can restore
 * all of it, and roots are marked.
 *
 * A record that was just written is *admitted*. The effect depends on the intent of the write. A blob that another
 * caller wrote in the meantime stays where it is, and the new bytes are waste. A value of the action cache moves to its
 * newest record. A copy counts only if the index still points to the source of the copy.
 */
import { DIGEST_FUNCTIONS, type Digest, type DigestList } from '../../base/digest.ts'
import { BLOB_FLAGS } from '../index/blob-flags.ts'
import type { BlobIndex } from '../index/blob-index.ts'
import type { IndexJournal } from './index-journal.ts'
import type { Pack, PackSet } from './pack-set.ts'
import type { Intent, RecordPlace } from './pack-writer.ts'
import {
  emptyHeader,
  fillHeader,
  functionNumberOf,
  type Key,
  type RecordHeader,
  recordBytes,
  UNIT_BYTES,
} from './record-format.ts'
import { Roots } from './roots.ts'

const { zstd: ZSTD, checked: CHECKED } = BLOB_FLAGS
/** Pinned blobs must not be evicted; valid until the store is closed, because roots are set again at each start. */
const ROOT = 0x40

const WIDTHS: number[] = []
for (const { number, hashBytes } of Object.values(DIGEST_FUNCTIONS)) WIDTHS[number] = hashBytes

export const NONE = -1

export class Catalogue {
  readonly index: BlobIndex
  readonly #packs: PackSet
  readonly #journal: IndexJournal
  readonly #seconds: () => number
  readonly roots = new Roots()
  readonly #header = emptyHeader()
  readonly #location = { pack: 0, offset: 0, storedBytes: 0, flags: 0 }
  /** Bytes of all records that the index points to. */
  liveBytes = 0

  constructor(index: BlobIndex, packs: PackSet, journal: IndexJournal, seconds: () => number) {
    this.index = index
    this.#packs = packs
    this.#journal = journal
    this.#seconds = seconds
  }

  find(key: Key): number {
    return this.index.find(key.tag, key.hash, key.at, key.width, key.size)
  }

  /** Finds a blob with that hash, of any size. */
  findByHash(tag: number, hash: Uint8Array): number {
    return this.index.findByHash(tag, hash, 0, hash.length)
  }

  /** Whether the blob is stored. Touches the blob if it is. */
  holds(key: Key): boolean {
    const record = this.find(key)
    if (record !== NONE) this.touch(record)
    return record !== NONE
  }

  touch(record: number): void {
    this.index.setTouch(record, this.#seconds())
  }

  missing(tag: number, list: DigestList, absent: Uint8Array): void {
    this.index.missing(tag, list, absent, this.#seconds())
  }

  packOf(record: number): Pack | undefined {
    return this.#packs.get(this.index.pack(record))
  }

  positionOf(record: number): number {
    return this.index.offset(record) * UNIT_BYTES
  }

  bytesOf(record: number): number {
    return recordBytes(WIDTHS[functionNumberOf(this.index.tag(record))] as number, this.index.storedBytes(record))
  }

  isAt(record: number, place: RecordPlace): boolean {
    return this.index.pack(record) === place.pack && this.index.offset(record) === place.unit
  }

  isZstd(record: number): boolean {
    return (this.index.flags(record) & ZSTD) !== 0
  }

  isChecked(record: number): boolean {
    return (this.index.flags(record) & CHECKED) !== 0
  }

  setChecked(record: number): void {
    this.index.setFlags(record, this.index.flags(record) | CHECKED)
  }

  isRoot(record: number): boolean {
    return (this.index.flags(record) & ROOT) !== 0
  }

  /** Registers a record whose header is in `stage`. */
  admit(stage: Buffer, at: number, place: RecordPlace, intent: Intent): void {
    fillHeader(this.#header, stage, at)
    this.admitHeader(this.#header, place, intent)
  }

  admitHeader(header: RecordHeader, place: RecordPlace, intent: Intent): void {
    const known = this.find(header)
    if (known === NONE) {
      if (intent.kind !== 'copy') this.#insert(header, place)
      return
    }
    if (intent.kind === 'put') this.touch(known)
    else if (intent.kind === 'replace') {
      this.#leave(known)
      this.#insert(header, place)
    } else if (intent.from !== undefined && this.isAt(known, intent.from)) this.#move(known, place)
  }

  /** Removes a record: its blob is absent from now on. */
  drop(record: number): void {
    this.#leave(record)
    this.#journal.drop(this.index, record)
    this.index.remove(record)
  }

  pin(tag: number, digest: Digest): void {
    const key = catalogueKey(tag, digest)
    this.roots.pin(key)
    const record = this.find(key)
    if (record !== NONE) this.index.setFlags(record, this.index.flags(record) | ROOT)
  }

  unpin(tag: number, digest: Digest): void {
    const key = catalogueKey(tag, digest)
    if (!this.roots.unpin(key)) return
    const record = this.find(key)
    if (record !== NONE) this.index.setFlags(record, this.index.flags(record) & ~ROOT)
  }

  #insert(header: RecordHeader, place: RecordPlace): void {
    const { tag, hash, at, width, size, stored } = header
    const kept = header.form === 'zstd' ? ZSTD : 0
    const flags = kept | (this.roots.has(header) ? ROOT : 0)
    const location = this.#location
    location.pack = place.pack
    location.offset = place.unit
    location.storedBytes = stored
    location.flags = flags
    const record = this.index.insert(tag, hash, at, width, size, location, this.#seconds())
    if (record === NONE) return // the index is at MOST_SIZES for this hash: the record is waste
    this.#enter(record)
    this.#journal.put(this.index, record)
  }

  #move(record: number, place: RecordPlace): void {
    this.#leave(record)
    this.index.move(record, place.pack, place.unit)
    this.index.setFlags(record, this.index.flags(record) & ~CHECKED)
    this.#enter(record)
    this.#journal.move(this.index, record)
  }

  /** Visits all records, in slices, and yields to the event loop between slices. */
  async eachRecord(slice: number, visit: (record: number) => void): Promise<void> {
    for (let from = 0; from !== -1; ) {
      from = this.index.iterate(from, slice, visit)
      if (from !== -1) await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }

  async recordsIn(pack: number): Promise<number[]> {
    const found: number[] = []
    await this.eachRecord(65_536, (record) => {
      if (this.index.pack(record) === pack) found.push(record)
    })
    return found
  }

  /** Counts a record that was read from the journal. */
  enter(record: number): void {
    this.#enter(record)
  }

  #enter(record: number): void {
    const bytes = this.bytesOf(record)
    const pack = this.packOf(record)
    if (pack !== undefined) pack.live += bytes
    this.liveBytes += bytes
  }

  #leave(record: number): void {
    const bytes = this.bytesOf(record)
    const pack = this.packOf(record)
    if (pack !== undefined) pack.live -= bytes
    this.liveBytes -= bytes
  }
}

export function catalogueKey(tag: number, { fn, hash, size }: Digest): Key {
  return { tag, hash: Buffer.from(hash, 'hex'), at: 0, width: DIGEST_FUNCTIONS[fn].hashBytes, size }
}
