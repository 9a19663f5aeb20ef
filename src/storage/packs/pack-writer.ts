/**
 * Appends records to the newest pack. All records that are added in one turn of the event loop, or while the previous
 * write runs, are written with one writev: a 4 KiB blob then costs 1.2 µs, and 21 µs when it is written alone.
 *
 *   batch   a stage (1 MiB) with headers, CRCs and small payloads as they will be in the file; large payloads are not
 *           copied, but are pieces of the same writev, between parts of the stage
 *
 *   process   written ───────────────────────────→ admitted (index, journal) and acknowledged; synced later
 *   power     written → synced (with all others ──→ admitted and acknowledged
 *                       that were written while the previous sync ran)
 *
 * A failed write fails only its batch: the next batch is written at the same position, so that the pack continues as
 * soon as there is space. After a failed fsync the content of the disk is unknown: all unsynced batches fail, and a new
 * pack begins.
 */
import { crc32 } from 'node:zlib'
import { FaultError } from '../../base/fault.ts'
import type { StoredForm } from '../blob-store.ts'
import type { FileLayer } from './file-layer.ts'
import { PACKS, type Pack, type PackSet, packPath } from './pack-set.ts'
import {
  BlockChecks,
  headerBytes,
  type Key,
  recordBytes,
  sealHeader,
  tailBytes,
  UNIT_BYTES,
  writeHeader,
} from './record-format.ts'

const STAGE_BYTES = 1024 * 1024
/** Payloads up to this size are copied to the stage: another piece in the writev costs more. */
const COPIED_BYTES = 32 * 1024
const BATCH_BYTES = 16 * 1024 * 1024
const SPARE_STAGES = 4

export type WriteDurability = 'process' | 'power'

/** The position of a record. */
export interface RecordPlace {
  readonly pack: number
  readonly unit: number
}

/** The change to the index when the record is written. */
export interface Intent {
  readonly kind: 'put' | 'replace' | 'copy'
  /** For copies: the position that the index must still have, and the position where the record was first written. */
  readonly from?: RecordPlace
  readonly origin?: RecordPlace
}

export const PUT: Intent = { kind: 'put' }
export const REPLACE: Intent = { kind: 'replace' }

export interface PackWriterOptions {
  readonly durability: WriteDurability
  readonly packBytes: number
  /** With `process` durability, a sync starts after this many bytes. */
  readonly syncEveryBytes: number
  /**
   * Called for each record when it can be read. `header` is the offset of its header in the stage. Both are valid only
   * during the call.
   */
  admit(stage: Buffer, header: number, place: RecordPlace, intent: Intent): void
  /** Called when a pack is synced up to `pack.synced`. */
  synced(pack: Pack): void
  failed(error: unknown, what: 'write' | 'sync'): void
}

export class Batch {
  readonly stage: Buffer
  readonly pieces: Uint8Array[] = []
  readonly headers: number[] = []
  /** The start of each record, relative to the start of the batch. */
  readonly starts: number[] = []
  readonly intents: Intent[] = []
  readonly done: Promise<void>
  bytes = 0
  staged = 0
  /** The stage from this offset on is not yet in `pieces`. */
  open = 0
  pack: Pack | undefined
  start = 0
  resolve!: () => void
  reject!: (error: FaultError) => void

  constructor(stage: Buffer) {
    this.stage = stage
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    this.done.catch(() => {}) // the batch of a copy may have no waiter
  }

  cut(): void {
    if (this.staged > this.open) this.pieces.push(this.stage.subarray(this.open, this.staged))
    this.open = this.staged
  }
}

export class PackWriter {
  readonly #files: FileLayer
  readonly #packs: PackSet
  readonly #options: PackWriterOptions
  readonly #waiting: Batch[] = []
  readonly #stages: Buffer[] = []
  #current: Pack | undefined
  #writing = false
  #scheduled = false
  #syncing: Promise<void> | undefined
  #unsynced: Batch[] = []
  readonly #dirty = new Set<Pack>()
  readonly #poisoned = new Set<Pack>()
  #folderDirty = false
  #dirtyBytes = 0
  #idle: (() => void)[] = []

  constructor(files: FileLayer, packs: PackSet, options: PackWriterOptions) {
    this.#files = files
    this.#packs = packs
    this.#options = options
  }

  /** The pack that is being written to: it must not be reclaimed. */
  get current(): Pack | undefined {
    return this.#current
  }

  /** Continues a pack of an earlier run. */
  resume(pack: Pack): void {
    this.#packs.hold(pack)
    this.#current = pack
  }

  /** Adds a file that another component wrote to the next sync. */
  adopt(pack: Pack): void {
    this.#dirty.add(pack)
    this.#dirtyBytes += pack.end
    if (this.#dirtyBytes >= this.#options.syncEveryBytes) void this.#startSync()
  }

  /**
   * Queues one record; its batch resolves when it is written. The payload must not change until then. This is the hot
   * path: nothing is allocated for a small blob.
   */
  add(key: Key, form: StoredForm, payload: Uint8Array, intent: Intent): Batch {
    const stored = payload.length
    const tail = tailBytes(key.width, stored)
    const isCopied = stored <= COPIED_BYTES
    const batch = this.#begin(key, form, stored, intent, isCopied ? stored : 0)
    const { stage } = batch
    if (isCopied) {
      stage.set(payload, batch.staged)
      batch.staged += stored
      if (stored > 0) stage.writeUInt32LE(crc32(payload), batch.staged)
      for (let at = stored > 0 ? 4 : 0; at < tail; at++) stage[batch.staged + at] = 0
    } else {
      batch.cut()
      batch.pieces.push(payload)
      const checks = new BlockChecks()
      checks.update(payload)
      checks.writeTail(stage, batch.staged, tail)
    }
    batch.staged += tail
    this.#schedule()
    return batch
  }

  /** Like `add`, for a payload in pieces whose CRCs were computed while they were received. */
  addPieces(key: Key, form: StoredForm, pieces: readonly Uint8Array[], intent: Intent, checks: BlockChecks): Batch {
    let stored = 0
    for (const piece of pieces) stored += piece.length
    const tail = tailBytes(key.width, stored)
    const batch = this.#begin(key, form, stored, intent, 0)
    batch.cut()
    for (const piece of pieces) if (piece.length > 0) batch.pieces.push(piece)
    checks.writeTail(batch.stage, batch.staged, tail)
    batch.staged += tail
    this.#schedule()
    return batch
  }

  #begin(key: Key, form: StoredForm, stored: number, intent: Intent, copied: number): Batch {
    const head = headerBytes(key.width)
    const bytes = recordBytes(key.width, stored)
    const batch = this.#batchWith(bytes - stored + copied)
    batch.headers.push(batch.staged)
    batch.starts.push(batch.bytes)
    batch.intents.push(intent)
    writeHeader(batch.stage, batch.staged, key, form, stored)
    batch.staged += head
    batch.bytes += bytes
    return batch
  }

  /** Closes the newest pack, so that it can be reclaimed. Does nothing while the pack is being written to. */
  async endPack(): Promise<void> {
    await this.flush()
    const pack = this.#current
    if (pack !== undefined && pack.end > 0 && !this.#writing && this.#waiting.length === 0) this.#abandon(pack)
  }

  /** Resolves when all records that were added before are written and synced. */
  async flush(): Promise<void> {
    if (this.#writing || this.#waiting.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
    await this.sync()
  }

  /** Makes all written records survive a power cut. */
  async sync(): Promise<void> {
    while (this.#syncing !== undefined) await this.#syncing
    await this.#startSync()
  }

  #batchWith(room: number): Batch {
    const last = this.#waiting.at(-1)
    if (last !== undefined && last.staged + room <= last.stage.length && last.bytes < BATCH_BYTES) return last
    const stage =
      room > STAGE_BYTES ? Buffer.allocUnsafeSlow(room) : (this.#stages.pop() ?? Buffer.allocUnsafeSlow(STAGE_BYTES))
    const batch = new Batch(stage)
    this.#waiting.push(batch)
    return batch
  }

  #schedule(): void {
    if (this.#writing || this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      void this.#writeAll()
    })
  }

  async #writeAll(): Promise<void> {
    if (this.#writing) return
    this.#writing = true
    for (let batch = this.#waiting.shift(); batch !== undefined; batch = this.#waiting.shift()) await this.#write(batch)
    this.#writing = false
    for (const wake of this.#idle.splice(0)) wake()
  }

  async #write(batch: Batch): Promise<void> {
    try {
      const pack = this.#packFor(batch)
      batch.pack = pack
      batch.start = pack.end
      this.#seal(batch, pack)
      await this.#packs.fileOf(pack).write(batch.pieces, batch.start)
    } catch (error) {
      await this.#writeFailed(batch, error)
      return
    }
    const pack = batch.pack
    this.#packs.grow(pack, batch.bytes)
    this.#dirty.add(pack)
    this.#dirtyBytes += batch.bytes
    if (this.#options.durability === 'power') this.#unsynced.push(batch)
    else this.#admit(batch)
    if (this.#options.durability === 'power' || this.#dirtyBytes >= this.#options.syncEveryBytes) void this.#startSync()
  }

  #packFor(batch: Batch): Pack {
    const current = this.#current
    const isFull =
      current !== undefined &&
      current.end > 0 &&
      current.end + batch.bytes > Math.max(this.#options.packBytes, batch.bytes)
    if (current !== undefined && !isFull) return current
    const number = this.#packs.nextNumber()
    const file = this.#files.open(packPath(number, false), 'new')
    this.#folderDirty = true
    const next = this.#packs.add(number, false, 0, file)
    next.readers++ // the newest pack stays open
    if (current !== undefined) this.#packs.release(current)
    this.#current = next
    return next
  }

  /** Headers contain their offset, which is known only now. */
  #seal(batch: Batch, pack: Pack): void {
    batch.cut()
    for (let i = 0; i < batch.headers.length; i++) {
      const origin = batch.intents[i]?.origin
      const unit = (batch.start + (batch.starts[i] as number)) / UNIT_BYTES
      sealHeader(batch.stage, batch.headers[i] as number, origin?.pack ?? pack.number, origin?.unit ?? unit)
    }
  }

  #admit(batch: Batch): void {
    const pack = batch.pack as Pack
    const place = { pack: pack.number, unit: 0 }
    for (let i = 0; i < batch.headers.length; i++) {
      place.unit = (batch.start + (batch.starts[i] as number)) / UNIT_BYTES
      this.#options.admit(batch.stage, batch.headers[i] as number, place, batch.intents[i] as Intent)
    }
    this.#giveBack(batch)
    batch.resolve()
  }

  async #writeFailed(batch: Batch, error: unknown): Promise<void> {
    this.#options.failed(error, 'write')
    this.#giveBack(batch)
    batch.reject(writeFault(error))
    const { pack, start } = batch
    if (pack === undefined) return
    if (!isFullDisk(error)) this.#abandon(pack)
    // This only frees the space: bytes behind the end of a pack are never read.
    await pack.file?.truncate(start).catch(() => this.#abandon(pack))
  }

  /** Writes no more records to a pack. */
  #abandon(pack: Pack): void {
    if (this.#current !== pack) return
    this.#current = undefined
    this.#packs.release(pack)
  }

  async #startSync(): Promise<void> {
    if (this.#syncing !== undefined || (this.#dirty.size === 0 && this.#unsynced.length === 0)) return
    this.#syncing = this.#syncOnce()
    await this.#syncing
    this.#syncing = undefined
    if (this.#unsynced.length > 0 || this.#dirtyBytes >= this.#options.syncEveryBytes) void this.#startSync()
  }

  async #syncOnce(): Promise<void> {
    const batches = this.#unsynced
    const dirty = [...this.#dirty]
      .filter(({ removed }) => !removed)
      .map((pack) => ({ pack, end: pack.end, file: this.#packs.hold(pack) }))
    this.#unsynced = []
    this.#dirty.clear()
    this.#dirtyBytes = 0
    const folderDirty = this.#folderDirty
    this.#folderDirty = false
    try {
      for (const { file } of dirty) await file.sync()
      if (folderDirty) await this.#files.syncFolder(PACKS)
    } catch (error) {
      this.#syncFailed(
        dirty.map(({ pack }) => pack),
        error,
      )
    }
    for (const batch of batches) {
      if (!this.#poisoned.has(batch.pack as Pack)) this.#admit(batch)
      else {
        this.#giveBack(batch)
        batch.reject(new FaultError({ kind: 'unavailable', what: 'the disk could not make the blobs safe' }))
      }
    }
    // This must be last: the journal must contain the records before it marks them as synced.
    for (const { pack, end } of dirty) {
      this.#packs.release(pack)
      if (this.#poisoned.has(pack)) continue
      pack.synced = end
      this.#options.synced(pack)
    }
  }

  #syncFailed(packs: readonly Pack[], error: unknown): void {
    this.#options.failed(error, 'sync')
    this.#folderDirty = true
    for (const pack of packs) {
      this.#poisoned.add(pack)
      this.#abandon(pack)
    }
  }

  #giveBack(batch: Batch): void {
    if (batch.stage.length === STAGE_BYTES && this.#stages.length < SPARE_STAGES) this.#stages.push(batch.stage)
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

export const isFullDisk = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(error))

/** The fault that callers get for a failed write. */
export function writeFault(error: unknown): FaultError {
  if (error instanceof FaultError) return error
  if (isFullDisk(error))
    return new FaultError({ kind: 'exhausted', resource: 'disk space', retryAfterMs: 5000, why: 'disk' }, error)
  return new FaultError({ kind: 'unavailable', what: `writing to disk failed (${codeOf(error) || 'unknown'})` }, error)
}
