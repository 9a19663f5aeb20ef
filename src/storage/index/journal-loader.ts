/** Reads an index journal into a blob index; journal-format.ts describes the format and its guarantees. */
import { crc32 } from 'node:zlib'
import { type BlobIndex, KEPT_HASH_BYTES } from './blob-index.ts'
import { ENTRY, HEADER, JOURNAL_UNIT_BYTES, JOURNAL_VERSION, KIND, MAGIC, MOST_ENTRIES } from './journal-format.ts'

export interface JournalEnd {
  readonly entries: number
  /** Bytes of complete blocks. The file is truncated to this length before it is continued. */
  readonly wholeBytes: number
  /** Bytes behind the complete blocks. */
  readonly tornBytes: number
  /**
   * Complete blocks follow the cut: more than the tail is corrupt, and the index may be out of date. Only the packs are
   * correct.
   */
  readonly damaged: boolean
  /** The store was closed cleanly, and not opened since. */
  readonly closed: boolean
  /** The sequence number of the next block, for the writer that continues the file. */
  readonly nextSequence: number
  /** By pack number; without deleted packs. */
  readonly packs: ReadonlyMap<number, PackMarks>
}

/** Offsets in a pack, in units of 8 bytes. */
export interface PackMarks {
  /** The pack is on disk up to this offset. */
  readonly synced: number
  /** The highest offset that an entry put or moved a blob to; -1 when there is none. */
  readonly last: number
}

export class JournalLoader {
  readonly #index: BlobIndex
  readonly #touch: number
  readonly #packs = new Map<number, { synced: number; last: number }>()
  readonly #gone = new Set<number>()
  readonly #location = { pack: 0, offset: 0, storedBytes: 0, flags: 0 }
  /** The beginning of an incomplete block. */
  #held: Uint8Array = new Uint8Array(0)
  #readBytes = 0
  #wholeBytes = 0
  #entries = 0
  #sequence = 0
  #closed = false
  #cut = false
  #damaged = false
  /** The pack of the last entry: many entries in a row have the same pack. */
  #marks: { synced: number; last: number } | undefined
  #marksOf = -1

  /** All blobs count as touched at `touch`, in seconds. The index must have capacity for all entries of the file. */
  constructor(index: BlobIndex, touch: number) {
    this.#index = index
    this.#touch = touch
  }

  /** Adds the next bytes of the file, of any length. The caller may reuse the chunk afterwards. */
  push(chunk: Uint8Array): void {
    this.#readBytes += chunk.length
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    let at = 0
    while (!this.#cut && at + JOURNAL_UNIT_BYTES <= bytes.length) {
      const next = this.#readBlock(bytes, view, at)
      if (next === at) break
      at = next
    }
    if (this.#cut) at = this.#searchBehindCut(bytes, view, at)
    this.#held = new Uint8Array(bytes.subarray(at))
  }

  /** Removes records of deleted packs, and reports how the journal ended. */
  end(): JournalEnd {
    if (this.#gone.size > 0) {
      this.#index.iterate(0, Number.POSITIVE_INFINITY, (record) => {
        if (this.#gone.has(this.#index.pack(record))) this.#index.remove(record)
      })
    }
    for (const pack of this.#gone) this.#packs.delete(pack)
    return {
      entries: this.#entries,
      wholeBytes: this.#wholeBytes,
      tornBytes: this.#readBytes - this.#wholeBytes,
      damaged: this.#damaged,
      closed: this.#closed && this.#readBytes === this.#wholeBytes,
      nextSequence: this.#sequence,
      packs: this.#packs,
    }
  }

  /** Returns the start of the next block. Returns `at` when this block is incomplete or corrupt. */
  #readBlock(bytes: Uint8Array, view: DataView, at: number): number {
    if (!isHeader(bytes, view, at) || view.getUint32(at + HEADER.sequence, true) !== this.#sequence) {
      this.#cut = true
      return at
    }
    const version = view.getUint16(at + HEADER.version, true)
    if (version !== JOURNAL_VERSION || view.getUint16(at + HEADER.unit, true) !== JOURNAL_UNIT_BYTES) {
      throw new Error(`the index journal is of version ${version}; this program reads version ${JOURNAL_VERSION}`)
    }
    const first = at + JOURNAL_UNIT_BYTES
    const end = first + view.getUint32(at + HEADER.entries, true) * JOURNAL_UNIT_BYTES
    if (end > bytes.length) return at
    if (crc32(bytes.subarray(first, end)) !== view.getUint32(at + HEADER.crc, true)) {
      this.#cut = true
      return at
    }
    for (let entry = first; entry < end; entry += JOURNAL_UNIT_BYTES) this.#apply(bytes, view, entry)
    this.#entries += (end - first) / JOURNAL_UNIT_BYTES
    this.#wholeBytes += end - at
    this.#sequence++
    return end
  }

  #apply(bytes: Uint8Array, view: DataView, at: number): void {
    const kind = view.getUint8(at + ENTRY.kind)
    this.#closed = kind === KIND.closed
    switch (kind) {
      case KIND.put:
        return this.#put(bytes, view, at)
      case KIND.drop: {
        const record = this.#find(bytes, view, at)
        if (record !== -1) this.#index.remove(record)
        return
      }
      case KIND.move: {
        const { pack, offset } = this.#mark(view, at)
        const record = this.#find(bytes, view, at)
        if (record !== -1) this.#index.move(record, pack, offset)
        return
      }
      case KIND.synced: {
        const marks = this.#marksFor(view.getUint32(at + ENTRY.pack, true))
        marks.synced = Math.max(marks.synced, view.getUint32(at + ENTRY.offset, true))
        return
      }
      case KIND.gone:
        this.#gone.add(view.getUint32(at + ENTRY.pack, true))
        return
      case KIND.opened:
      case KIND.closed:
        return
      default:
        throw new Error(`the index journal, of version ${JOURNAL_VERSION}, has an entry of the unknown kind ${kind}`)
    }
  }

  #put(bytes: Uint8Array, view: DataView, at: number): void {
    const location = this.#mark(view, at)
    location.storedBytes = view.getUint8(at + ENTRY.storedHigh) * 2 ** 32 + view.getUint32(at + ENTRY.storedLow, true)
    location.flags = view.getUint8(at + ENTRY.flags)
    const tag = view.getUint16(at + ENTRY.tag, true)
    this.#index.insert(tag, bytes, at, KEPT_HASH_BYTES, sizeAt(view, at), location, this.#touch)
  }

  #find(bytes: Uint8Array, view: DataView, at: number): number {
    return this.#index.find(view.getUint16(at + ENTRY.tag, true), bytes, at, KEPT_HASH_BYTES, sizeAt(view, at))
  }

  /** Reads the position in an entry, and updates the highest offset of its pack. */
  #mark(view: DataView, at: number): { pack: number; offset: number; storedBytes: number; flags: number } {
    const pack = view.getUint32(at + ENTRY.pack, true)
    const offset = view.getUint32(at + ENTRY.offset, true)
    const marks = this.#marksFor(pack)
    if (offset > marks.last) marks.last = offset
    this.#location.pack = pack
    this.#location.offset = offset
    return this.#location
  }

  #marksFor(pack: number): { synced: number; last: number } {
    if (this.#marks !== undefined && this.#marksOf === pack) return this.#marks
    let marks = this.#packs.get(pack)
    if (marks === undefined) {
      marks = { synced: 0, last: -1 }
      this.#packs.set(pack, marks)
    }
    this.#marks = marks
    this.#marksOf = pack
    return marks
  }

  /** Searches for blocks behind a corrupt one. Blocks begin at multiples of the unit. */
  #searchBehindCut(bytes: Uint8Array, view: DataView, from: number): number {
    let at = from
    for (; at + JOURNAL_UNIT_BYTES <= bytes.length; at += JOURNAL_UNIT_BYTES) {
      if (isHeader(bytes, view, at) && view.getUint32(at + HEADER.sequence, true) > this.#sequence) this.#damaged = true
    }
    return at
  }
}

const sizeAt = (view: DataView, at: number): number =>
  view.getUint16(at + ENTRY.sizeHigh, true) * 2 ** 32 + view.getUint32(at + ENTRY.sizeLow, true)

function isHeader(bytes: Uint8Array, view: DataView, at: number): boolean {
  const entries = view.getUint32(at + HEADER.entries, true)
  return (
    view.getUint32(at + HEADER.magic, true) === MAGIC &&
    entries > 0 &&
    entries <= MOST_ENTRIES &&
    view.getUint32(at + HEADER.headerCrc, true) === crc32(bytes.subarray(at, at + HEADER.headerCrc))
  )
}

/** Loads a journal from an iterable of chunks. */
export function loadJournal(chunks: Iterable<Uint8Array>, index: BlobIndex, touch: number): JournalEnd {
  const loader = new JournalLoader(index, touch)
  for (const chunk of chunks) loader.push(chunk)
  return loader.end()
}
