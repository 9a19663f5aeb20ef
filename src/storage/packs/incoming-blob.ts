/**
 * A blob on its way in, piece by piece. It gathers in memory and goes into a pack as one record, unless it grows past
 * `soloBytes` (or all uploads together past what they may gather): then it continues in a file of its own.
 *
 *   incoming/0000021f   header (left empty until the end) | payload as it comes | CRCs
 *   commit              header written, file synced (power), renamed to solo/1f/0000021f.blob, folder synced (power)
 *
 * Two buffers of 1 MiB take turns: one fills while the other is being written.
 */
import { FaultError } from '../../base/fault.ts'
import type { BlobWriter, StoredForm } from '../blob-store.ts'
import type { DataFile, FileLayer } from './file-layer.ts'
import { folderOf, incomingPath, type PackSet, pathOf } from './pack-set.ts'
import { type Durability, type PackWriter, PUT, writeFault } from './pack-writer.ts'
import {
  BlockChecks,
  headerBytes,
  type Key,
  type RecordHeader,
  sealHeader,
  tailBytes,
  writeHeader,
} from './record-format.ts'
import type { Room } from './room.ts'

const BUFFER_BYTES = 1024 * 1024
const SPARE_BUFFERS = 16

export interface IncomingTools {
  readonly files: FileLayer
  readonly packs: PackSet
  readonly writer: PackWriter
  readonly durability: Durability
  readonly soloBytes: number
  readonly room: Room
  /** Whether the blob is there already; that touches it. */
  isHeld(key: Key): boolean
  /** A file of its own is in place. */
  admitSolo(header: RecordHeader, number: number, bytes: number): void
  readonly gathering: Gathering
  /** So many bytes are on their way to disk. */
  wrote(bytes: number): void
}

/** What all uploads together hold in memory. */
export class Gathering {
  readonly #maxBytes: number
  #bytes = 0
  readonly spare: Buffer[] = []

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#maxBytes) return false
    this.#bytes += bytes
    return true
  }

  give(bytes: number): void {
    this.#bytes -= bytes
  }
}

export class IncomingBlob implements BlobWriter {
  readonly #tools: IncomingTools
  readonly #key: Key
  readonly #form: StoredForm
  readonly #checks = new BlockChecks()
  #gathered: Uint8Array[] = []
  #bytes = 0
  #state: 'open' | 'committed' | 'ended' = 'open'
  #solo: SoloFile | undefined

  constructor(tools: IncomingTools, key: Key, form: StoredForm) {
    this.#tools = tools
    this.#key = key
    this.#form = form
  }

  write(bytes: Uint8Array): void | Promise<void> {
    if (this.#state !== 'open') throw new FaultError({ kind: 'cancelled', what: 'the upload has ended' })
    this.#checks.update(bytes)
    this.#bytes += bytes.length
    if (this.#solo !== undefined) return this.#solo.write(bytes)
    if (this.#bytes <= this.#tools.soloBytes && this.#tools.gathering.take(bytes.length)) {
      this.#gathered.push(Buffer.from(bytes))
      return
    }
    return this.#goSolo(bytes)
  }

  async commit(): Promise<void> {
    if (this.#state !== 'open') throw new FaultError({ kind: 'cancelled', what: 'the upload has ended' })
    this.#state = 'committed'
    try {
      if (this.#tools.isHeld(this.#key)) return
      if (this.#solo !== undefined) {
        await this.#solo.finish(this.#key, this.#form, this.#checks, this.#bytes)
        this.#solo = undefined
        return
      }
      await this.#tools.room.wait(this.#bytes)
      const batch = this.#tools.writer.addPieces(this.#key, this.#form, this.#gathered, PUT, this.#checks)
      this.#tools.wrote(this.#bytes)
      await batch.done
    } finally {
      this.#letGo()
    }
  }

  abort(): void {
    if (this.#state === 'open') this.#letGo()
  }

  #letGo(): void {
    this.#state = 'ended'
    this.#giveGathered()
    this.#solo?.discard()
    this.#solo = undefined
  }

  #giveGathered(): void {
    for (const piece of this.#gathered) this.#tools.gathering.give(piece.length)
    this.#gathered = []
  }

  async #goSolo(bytes: Uint8Array): Promise<void> {
    if (this.#form === 'identity') this.#tools.room.mayEverHold(this.#key.size)
    const solo = new SoloFile(this.#tools, headerBytes(this.#key.width))
    this.#solo = solo
    for (const piece of this.#gathered) await solo.write(piece)
    this.#giveGathered()
    await solo.write(bytes)
  }
}

class SoloFile {
  readonly #tools: IncomingTools
  readonly #number: number
  readonly #file: DataFile
  #buffer: Buffer
  #filled = 0
  #position: number
  #taken = 0
  #running: Promise<void> | undefined
  #hasEnded = false

  constructor(tools: IncomingTools, start: number) {
    this.#tools = tools
    this.#number = tools.packs.nextNumber()
    this.#position = start
    try {
      this.#file = tools.files.open(incomingPath(this.#number), 'new')
    } catch (error) {
      throw writeFault(error)
    }
    this.#buffer = this.#takeBuffer()
  }

  write(bytes: Uint8Array): void | Promise<void> {
    if (this.#filled + bytes.length > BUFFER_BYTES) return this.#writeMore(bytes)
    this.#buffer.set(bytes, this.#filled)
    this.#filled += bytes.length
  }

  async finish(key: Key, form: StoredForm, checks: BlockChecks, stored: number): Promise<void> {
    const tail = tailBytes(key.width, stored)
    const head = headerBytes(key.width)
    const edges = Buffer.alloc(head + tail)
    writeHeader(edges, 0, key, form, stored)
    sealHeader(edges, 0, this.#number, 0)
    checks.writeTail(edges, head, tail)
    const { files, durability } = this.#tools
    const path = pathOf(this.#number, true)
    await this.#turn()
    await this.#running
    try {
      await this.#file.write([edges.subarray(head)], head + stored)
      await this.#file.write([edges.subarray(0, head)], 0)
      if (durability === 'power') await this.#file.sync()
      await files.rename(incomingPath(this.#number), path)
      if (durability === 'power') await files.syncFolder(folderOf(path))
    } catch (error) {
      void files.unlink(path).catch(() => {})
      throw writeFault(error)
    }
    this.#end()
    const header = { ...key, form, stored, originPack: this.#number, originUnit: 0 }
    this.#tools.admitSolo(header, this.#number, head + stored + tail)
    this.#tools.wrote(stored)
  }

  /** Closes and removes the file once nothing is being written to it. */
  discard(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const settled = (this.#running ?? Promise.resolve()).catch(() => {})
    void settled
      .then(() => {
        this.#end()
        return this.#tools.files.unlink(incomingPath(this.#number))
      })
      .catch(() => {}) // what is left in incoming/ goes at the next start
  }

  async #writeMore(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && !this.#hasEnded; ) {
      const take = Math.min(BUFFER_BYTES - this.#filled, bytes.length - at)
      this.#buffer.set(bytes.subarray(at, at + take), this.#filled)
      this.#filled += take
      at += take
      if (this.#filled === BUFFER_BYTES) await this.#turn()
    }
  }

  /** Sends off what has gathered, and waits only when the write before is still running. */
  async #turn(): Promise<void> {
    await this.#running
    const bytes = this.#filled
    if (bytes === 0) return
    await this.#tools.room.take(bytes)
    this.#taken += bytes
    if (this.#hasEnded) return
    const full = this.#buffer
    const position = this.#position
    this.#position += bytes
    this.#buffer = this.#takeBuffer()
    this.#filled = 0
    this.#running = this.#file
      .write([full.subarray(0, bytes)], position)
      .catch((error) => {
        throw writeFault(error)
      })
      .finally(() => this.#giveBuffer(full))
    this.#running.catch(() => {}) // whoever comes next hears of it
  }

  #end(): void {
    this.#hasEnded = true
    this.#file.close()
    this.#giveBuffer(this.#buffer)
    this.#tools.room.give(this.#taken)
    this.#taken = 0
  }

  #takeBuffer(): Buffer {
    return this.#tools.gathering.spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)
  }

  #giveBuffer(buffer: Buffer): void {
    if (this.#tools.gathering.spare.length < SPARE_BUFFERS) this.#tools.gathering.spare.push(buffer)
  }
}
