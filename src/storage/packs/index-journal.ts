/**
 * The index journal's file: index/journal, in the format that ../index/journal-format.ts draws.
 *
 * What happened gathers in memory and is appended now and then, for nothing waits for it: after an unclean stop the
 * packs themselves tell what the journal does not know yet. Only its order matters. An append that fails is repeated
 * before anything else is appended, so that there are no gaps.
 *
 * When most of what it says has been overtaken, a new journal is written beside it, a slice of the index at a time.
 * Everything that happens meanwhile goes to both; once the new one is whole and safe it takes the old one's name.
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
/** Entries are appended at this size, without waiting for the next tick. */
const APPEND_BYTES = 256 * 1024
/** Rewritten when it is this many times as long as it need be, and not small anyway. */
const EXCESS = 3
const SMALL_BYTES = 4 * 1024 * 1024
/** The word of a clean close, in a block of its own: a header and one entry. */
const CLOSE_BYTES = 2 * ENTRY_BYTES

/** A file that is appended to, and what is still to be appended. */
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
  /** The journal that is being written to take the current one's place. */
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

  /** Writes what is true now in place of all that ever happened. */
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
    await this.append() // so that the last word has a block of its own, and can be taken back
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
