/**
 * The file of the index journal: index/journal, in the format of ../index/journal-format.ts.
 *
 * Entries are collected in memory and appended later, because no caller waits for them: after an unclean stop, recovery
 * reads the missing entries from the packs. Only their order matters. An append that fails is repeated before anything
 * else is appended, so that there are no gaps.
 *
 * When most entries are obsolete, a new journal is written next to the old one, a slice of the index at a time. New
 * entries go to both files meanwhile. When the new file is complete and synced, it is renamed over the old one.
 */
import type { BlobIndex } from '../index/blob-index.ts'
import { JOURNAL_UNIT_BYTES as ENTRY_BYTES, HEADER, JournalWriter } from '../index/journal-format.ts'
import { type JournalEnd, JournalLoader } from '../index/journal-loader.ts'
import type { DataFile, FileLayer } from './file-layer.ts'
import type { Pack } from './pack-set.ts'
import { UNIT_BYTES } from './record-format.ts'

export const INDEX = 'index'
const NAME = 'journal'
const NEXT = 'journal.next'
const CHUNK_BYTES = 1024 * 1024
const SLICE_RECORDS = 16_384
/** Entries of this total size are appended at once, without waiting for the next tick. */
const APPEND_BYTES = 256 * 1024
/** The journal is rewritten when it is longer than SMALL_BYTES and this many times its minimal length. */
const EXCESS = 3
const SMALL_BYTES = 4 * 1024 * 1024
/** The size of the block that marks a clean close: a header and one entry. */
const CLOSE_BYTES = 2 * ENTRY_BYTES

/** A file, and the entries that are not appended yet. */
class Appender {
  readonly #file: DataFile
  readonly writer: JournalWriter
  #position: number
  #taken: Uint8Array | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(file: DataFile, position: number, sequence: number) {
    this.#file = file
    this.#position = position
    this.writer = new JournalWriter(sequence)
  }

  get bytes(): number {
    return this.#position + this.writer.bytes
  }

  append(): Promise<void> {
    const next = this.#running.catch(() => {}).then(() => this.#append())
    this.#running = next
    return next
  }

  async #append(): Promise<void> {
    while (this.#taken !== undefined || this.writer.bytes > 0) {
      this.#taken ??= this.writer.take()
      await this.#file.write([this.#taken], this.#position)
      this.#position += this.#taken.length
      this.#taken = undefined
    }
  }

  sync(): Promise<void> {
    return this.#file.sync()
  }

  close(): void {
    this.#file.close()
  }
}

export class IndexJournal {
  readonly #files: FileLayer
  #current: Appender | undefined
  /** The new journal that is being written and will replace the current one. */
  #next: Appender | undefined
  #failed: (error: unknown) => void
  #appending = false

  constructor(files: FileLayer, failed: (error: unknown) => void) {
    this.#files = files
    this.#failed = failed
  }

  /** The largest number of entries in the file, to allocate the index. */
  entries(): number {
    if (!this.#files.list(INDEX).includes(NAME)) return 0
    const file = this.#files.open(`${INDEX}/${NAME}`, 'existing')
    const entries = Math.ceil(file.size() / ENTRY_BYTES)
    file.close()
    return entries
  }

  /** Loads the file into the index, and appends behind its last valid block. */
  async load(index: BlobIndex, seconds: number): Promise<JournalEnd> {
    const names = this.#files.list(INDEX)
    if (names.includes(NEXT)) await this.#files.unlink(`${INDEX}/${NEXT}`)
    const isNew = !names.includes(NAME)
    const file = this.#files.open(`${INDEX}/${NAME}`, isNew ? 'new' : 'existing')
    const loader = new JournalLoader(index, seconds)
    const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
    for (let at = 0; ; ) {
      const have = await file.read(chunk, at)
      if (have === 0) break
      loader.push(chunk.subarray(0, have))
      at += have
    }
    const end = loader.end()
    if (end.tornBytes > 0) await file.truncate(end.wholeBytes)
    const isTakenBack = end.closed && (await takeBackClose(file, end.wholeBytes))
    const position = isTakenBack ? end.wholeBytes - CLOSE_BYTES : end.wholeBytes
    this.#current = new Appender(file, position, isTakenBack ? end.nextSequence - 1 : end.nextSequence)
    if (isNew) await this.#files.syncFolder(INDEX)
    return end
  }

  put(index: BlobIndex, record: number): void {
    this.#current?.writer.put(index, record)
    this.#next?.writer.put(index, record)
    this.#appendSoon()
  }

  move(index: BlobIndex, record: number): void {
    this.#current?.writer.move(index, record)
    this.#next?.writer.move(index, record)
    this.#appendSoon()
  }

  drop(index: BlobIndex, record: number): void {
    this.#current?.writer.drop(index, record)
    this.#next?.writer.drop(index, record)
  }

  packSynced(pack: Pack): void {
    this.#current?.writer.synced(pack.number, pack.synced / UNIT_BYTES)
    this.#next?.writer.synced(pack.number, pack.synced / UNIT_BYTES)
  }

  packGone(pack: Pack): void {
    this.#current?.writer.gone(pack.number)
    this.#next?.writer.gone(pack.number)
  }

  opened(): void {
    this.#current?.writer.opened()
  }

  async append(): Promise<void> {
    await this.#current?.append()
  }

  async sync(): Promise<void> {
    await this.#current?.append()
    await this.#current?.sync()
  }

  isExcessive(blobs: number): boolean {
    const bytes = this.#current?.bytes ?? 0
    return this.#next === undefined && bytes > SMALL_BYTES && bytes > EXCESS * blobs * ENTRY_BYTES
  }

  /** Replaces the journal with one that contains only the current state. */
  async rewrite(index: BlobIndex, packs: () => Iterable<Pack>): Promise<void> {
    const next = new Appender(this.#files.open(`${INDEX}/${NEXT}`, 'new'), 0, 0)
    this.#next = next
    try {
      next.writer.opened()
      for (let from = 0; from !== -1; ) {
        from = index.iterate(from, SLICE_RECORDS, (record) => next.writer.put(index, record))
        await next.append()
      }
      for (const pack of packs()) next.writer.synced(pack.number, pack.synced / UNIT_BYTES)
      await next.append()
      await next.sync()
      await this.#files.rename(`${INDEX}/${NEXT}`, `${INDEX}/${NAME}`)
      this.#current?.close()
      this.#current = next
      this.#next = undefined
      await this.#files.syncFolder(INDEX)
    } catch (error) {
      if (this.#next === next) {
        this.#next = undefined
        next.close()
        await this.#files.unlink(`${INDEX}/${NEXT}`).catch(() => {})
      }
      throw error
    }
  }

  /** Marks a clean close, so that the next start verifies nothing. */
  async close(): Promise<void> {
    await this.append() // so that the mark of the clean close has a block of its own, which the next start can truncate
    this.#current?.writer.closed()
    await this.sync()
    this.#current?.close()
  }

  /** Closes the file without marking a clean close. */
  abandon(): void {
    this.#current?.close()
  }

  #appendSoon(): void {
    if (this.#appending || (this.#current?.writer.bytes ?? 0) < APPEND_BYTES) return
    this.#appending = true
    this.append()
      .catch(this.#failed)
      .finally(() => {
        this.#appending = false
      })
  }
}

/**
 * Removes the mark of the last clean close. It is truncated and not overwritten by an entry: that needs no space on a
 * full disk. Returns false when other entries are in the same block.
 */
async function takeBackClose(file: DataFile, end: number): Promise<boolean> {
  const header = Buffer.alloc(ENTRY_BYTES)
  await file.read(header, end - CLOSE_BYTES)
  if (header.readUInt32LE(HEADER.entries) !== 1) return false
  await file.truncate(end - CLOSE_BYTES)
  await file.sync()
  return true
}
