/**
 * A blob store in a folder of this machine. This file connects the parts, and starts and closes them. Each part is
 * described at the top of its file.
 *
 *   LOCK, LOCK.pid     one server at a time            folder-lock.ts
 *   packs/  solo/      the records                     pack-set.ts, record-format.ts
 *   incoming/          uploads of large blobs          incoming-blob.ts
 *   index/             the positions of all blobs      index-journal.ts, and ../index for the index in memory
 *
 *   writes       pack-space → pack-writer (or incoming-blob) → catalogue → index and journal
 *   reads        pack-space → catalogue → record-reader
 *   background   reclaim (disk space), scrub (corruption); recovery runs when the store is opened
 */
import type { Clock } from '../../base/clock.ts'
import type { Digest } from '../../base/digest.ts'
import { prepareHashing } from '../../base/hashing/create-hasher.ts'
import type { BlobStore } from '../blob-store.ts'
import { BlobIndex } from '../index/blob-index.ts'
import { tagOf } from '../index/tag.ts'
import { Catalogue } from './catalogue.ts'
import { DiskSpace } from './disk-space.ts'
import type { FileLayer } from './file-layer.ts'
import { type IncomingTools, UploadMemory } from './incoming-blob.ts'
import { INDEX, IndexJournal } from './index-journal.ts'
import type { PackEvents } from './pack-events.ts'
import { INCOMING, PACKS, type Pack, PackSet, SOLO } from './pack-set.ts'
import { packSpace } from './pack-space.ts'
import { PackWalk } from './pack-walk.ts'
import { isFullDisk, PackWriter, PUT, type WriteDurability } from './pack-writer.ts'
import { Reclaimer } from './reclaim.ts'
import { type PackAdmin, type PackFigures, packAdmin } from './reclaim-admin.ts'
import { type RecordHeader, UNIT_BYTES } from './record-format.ts'
import { RecordReader, type VerifyReads } from './record-reader.ts'
import { findPacks, prove, settle } from './recovery.ts'
import { type Scrub, startScrub } from './scrub.ts'
import { type ValueStore, valueSpace } from './value-space.ts'

const MiB = 1024 * 1024

export interface PackStoreOptions {
  readonly files: FileLayer
  readonly clock: Clock
  readonly events: PackEvents
  readonly durability: WriteDurability
  /** The most disk space of the store. */
  readonly maxBytes: number
  readonly verifyReads?: VerifyReads
  readonly packBytes?: number
  /** Blobs larger than this have files of their own. */
  readonly soloBytes?: number
  /** The memory of all uploads together. Above it, uploads continue in files. */
  readonly gatherBytes?: number
  /** With `process` durability, written data is synced after this many bytes or milliseconds. */
  readonly syncEveryBytes?: number
  readonly syncEveryMs?: number
  /** 0 disables the scrub. */
  readonly scrubBytesPerSecond?: number
  readonly maxOpenFiles?: number
}

export interface PackStore {
  /** The blobs of one space, 0 to 254. */
  space(number: number): BlobStore
  /** The zstd forms of blobs that this space stores uncompressed. They are evicted like blobs. */
  zstdForms(number: number): BlobStore
  /** Values under names that are not their hashes. */
  values(): ValueStore
  /** Protects a blob from eviction until `unpin` was called as often as `pin`. The blob may be stored later. */
  pin(digest: Digest, space?: number): void
  unpin(digest: Digest, space?: number): void
  /** Resolves when all data that was acknowledged before survives a power cut. */
  makeDurable(): Promise<void>
  figures(): PackFigures
  /** The operator's functions. */
  readonly admin: PackAdmin
  close(): Promise<void>
}

/** The spaces of zstd forms follow those of blobs (0 to 254) and of values (255). */
const FIRST_FORM_SPACE = 256

const DEFAULTS = {
  verifyReads: 'first',
  packBytes: 256 * MiB,
  soloBytes: 4 * MiB,
  gatherBytes: 256 * MiB,
  syncEveryBytes: 64 * MiB,
  syncEveryMs: 5000,
  scrubBytesPerSecond: 8 * MiB,
  maxOpenFiles: 1024,
} satisfies Partial<PackStoreOptions>

type Settings = Required<PackStoreOptions>

export async function packStore(given: PackStoreOptions): Promise<PackStore> {
  const unlock = given.files.lock()
  try {
    await prepareHashing()
    return await new OpenStore({ ...DEFAULTS, ...given }, unlock).open()
  } catch (error) {
    unlock()
    throw error
  }
}

class OpenStore {
  readonly #options: Settings
  readonly #unlock: () => void
  readonly #packs: PackSet
  readonly #journal: IndexJournal
  readonly #catalogue: Catalogue
  readonly #writer: PackWriter
  readonly #reader: RecordReader
  readonly #room: DiskSpace
  readonly #reclaimer: Reclaimer
  readonly #walk: PackWalk
  readonly #index: BlobIndex
  readonly #startedMs: number
  #ingested = 0
  #scrub: Scrub | undefined
  #cancelTick = (): void => {}
  #isClosed = false

  constructor(options: Settings, unlock: () => void) {
    this.#options = options
    this.#unlock = unlock
    this.#startedMs = options.clock.monotonic()
    const { files, events, durability, maxBytes } = options
    const packBytes = Math.min(options.packBytes, Math.max(64 * 1024, Math.floor(maxBytes / 16)))
    for (const folder of [PACKS, SOLO, INCOMING, INDEX]) files.makeFolder(folder)
    for (let i = 0; i < 256; i++) files.makeFolder(`${SOLO}/${i.toString(16).padStart(2, '0')}`)
    this.#packs = new PackSet(files, options.maxOpenFiles)
    this.#journal = new IndexJournal(files, (error) => events.failed(error, 'journal'))
    this.#index = new BlobIndex({ expected: this.#journal.entries() })
    this.#catalogue = new Catalogue(this.#index, this.#packs, this.#journal, () => this.#seconds())
    this.#walk = new PackWalk(this.#catalogue, this.#packs)
    this.#writer = new PackWriter(files, this.#packs, {
      durability,
      packBytes,
      syncEveryBytes: options.syncEveryBytes,
      admit: (stage, at, place, intent) => this.#catalogue.admit(stage, at, place, intent),
      synced: (pack) => this.#journal.packSynced(pack),
      failed: (error, what) => events.failed(error, what),
    })
    this.#reader = new RecordReader(this.#packs, this.#catalogue, {
      verifyReads: options.verifyReads,
      lost: () => events.lost(1),
    })
    const limit = maxBytes - 2 * packBytes // copying needs space before it frees space
    const startBytes = limit - 2 * packBytes
    this.#room = new DiskSpace(limit, packBytes, () => this.#packs.bytes)
    const { clock } = options
    this.#reclaimer = new Reclaimer(
      { catalogue: this.#catalogue, packs: this.#packs, writer: this.#writer, walk: this.#walk, room: this.#room },
      {
        startBytes,
        targetBytes: startBytes - Math.max(packBytes, maxBytes / 50),
        clock,
        seconds: () => this.#seconds(),
        ingested: () => this.#ingested,
        packGone: (pack) => this.#journal.packGone(pack),
        reclaimed: (event) => events.reclaimed(event),
        failed: (error) => events.failed(error, 'reclaim'),
      },
    )
    this.#room.reclaim = () => this.#reclaimer.check()
  }

  async open(): Promise<PackStore> {
    const { files, clock, events } = this.#options
    await findPacks({ files, packs: this.#packs })
    const journal = await this.#journal.load(this.#index, this.#seconds())
    for (const [number, { synced }] of journal.packs) {
      this.#packs.skipTo(number)
      const pack = this.#packs.get(number)
      if (pack !== undefined) pack.synced = Math.min(synced * UNIT_BYTES, pack.end)
    }
    const tools = { files, packs: this.#packs, catalogue: this.#catalogue }
    for (const report of await settle(tools)) events.truncated(report)
    const isFresh = journal.entries === 0 && this.#packs.size === 0
    if (!journal.closed && !isFresh)
      events.recovered({ ...(await prove(tools, journal.packs)), isJournalDamaged: journal.damaged })
    for (const pack of this.#packs.all()) {
      if (pack.synced === pack.end && journal.closed) continue
      pack.synced = pack.end
      this.#journal.packSynced(pack)
    }
    // From here on the mark of the last clean close is no longer valid, also after a power cut.
    this.#journal.opened()
    await this.#journal.sync().catch((error: unknown) => {
      // A full disk must not prevent reads: the journal is written when there is space again.
      if (!isFullDisk(error)) throw error
      events.failed(error, 'journal')
    })
    if (isFresh) for (const folder of [SOLO, '']) await files.syncFolder(folder)
    this.#resumeWriting()
    this.#tick()
    const { scrubBytesPerSecond } = this.#options
    if (scrubBytesPerSecond > 0) {
      const scrubTools = { catalogue: this.#catalogue, packs: this.#packs, walk: this.#walk, reader: this.#reader }
      this.#scrub = startScrub(scrubTools, {
        clock,
        bytesPerSecond: scrubBytesPerSecond,
        lost: (blobs) => events.lost(blobs),
        done: (bytes) => events.scrubbed(bytes),
        failed: (error) => events.failed(error, 'scrub'),
      })
    }
    this.#reclaimer.check()
    return this.#store()
  }

  #store(): PackStore {
    const tools = {
      catalogue: this.#catalogue,
      reader: this.#reader,
      writer: this.#writer,
      room: this.#room,
      incoming: this.#incomingTools(),
      wrote: (bytes: number) => this.#wrote(bytes),
    }
    const figures = (): PackFigures => ({
      blobs: this.#index.count,
      liveBytes: this.#catalogue.liveBytes,
      diskBytes: this.#room.bytes,
      packs: this.#packs.size,
      roots: this.#catalogue.roots.size,
    })
    return {
      space: (number) => packSpace(tools, number),
      zstdForms: (number) => packSpace(tools, FIRST_FORM_SPACE + number),
      values: () => valueSpace(tools),
      pin: (digest, space = 0) => this.#catalogue.pin(tagOf(space, digest.fn), digest),
      makeDurable: () => this.#writer.flush(),
      unpin: (digest, space = 0) => {
        this.#catalogue.unpin(tagOf(space, digest.fn), digest)
        this.#room.freed()
      },
      figures,
      admin: packAdmin({
        ...tools,
        packs: this.#packs,
        walk: this.#walk,
        reclaimer: this.#reclaimer,
        clock: this.#options.clock,
        limitBytes: this.#options.maxBytes,
        seconds: () => this.#seconds(),
        figures,
      }),
      close: () => this.#close(),
    }
  }

  #incomingTools(): IncomingTools {
    return {
      files: this.#options.files,
      packs: this.#packs,
      writer: this.#writer,
      durability: this.#options.durability,
      soloBytes: this.#options.soloBytes,
      room: this.#room,
      gathering: new UploadMemory(this.#options.gatherBytes),
      isHeld: (key) => this.#catalogue.holds(key),
      admitSolo: (header, number, bytes) => this.#admitSolo(header, number, bytes),
      wrote: (bytes) => this.#wrote(bytes),
    }
  }

  #admitSolo(header: RecordHeader, number: number, bytes: number): void {
    const pack = this.#packs.add(number, true, bytes)
    this.#catalogue.admitHeader(header, { pack: number, unit: 0 }, PUT)
    if (pack.live === 0) {
      this.#packs.remove(pack).catch((error) => this.#options.events.failed(error, 'write')) // another write was faster
      return
    }
    if (this.#options.durability === 'power') {
      pack.synced = bytes
      this.#journal.packSynced(pack)
    } else this.#writer.adopt(pack)
  }

  #wrote(bytes: number): void {
    this.#ingested += bytes
    this.#reclaimer.check()
  }

  /** Seconds since the store was opened. Touches need no other clock. */
  #seconds(): number {
    return Math.floor((this.#options.clock.monotonic() - this.#startedMs) / 1000)
  }

  #resumeWriting(): void {
    let last: Pack | undefined
    for (const pack of this.#packs.all()) if (!pack.isSolo && pack.number > (last?.number ?? 0)) last = pack
    if (last !== undefined && last.end < this.#options.packBytes) this.#writer.resume(last)
  }

  #tick(): void {
    this.#cancelTick = this.#options.clock.after(this.#options.syncEveryMs, () => {
      this.#writer
        .sync()
        .then(() => this.#journal.append())
        .then(() => this.#shortenJournal())
        .catch((error) => this.#options.events.failed(error, 'journal'))
        .finally(() => {
          if (!this.#isClosed) this.#tick()
        })
    })
  }

  async #shortenJournal(): Promise<void> {
    if (!this.#journal.isExcessive(this.#index.count)) return
    await this.#journal.rewrite(this.#index, () => this.#packs.all())
  }

  async #close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cancelTick()
    await this.#scrub?.close()
    await this.#reclaimer.close()
    await this.#writer.flush()
    await this.#journal.close()
    this.#packs.closeAll()
    this.#unlock()
  }
}
