/**
 * An upload of one blob. Its bytes are collected in memory and become one record of a pack. An upload that grows past
 * `soloBytes`, or that exceeds the memory of all uploads, continues in a file of its own:
 *
 *   incoming/0000021f   header (empty until the end) | payload as received | CRCs
 *   commit              header written, file synced (power), renamed to solo/1f/0000021f.blob, folder synced (power)
 *
 * Two buffers of 1 MiB alternate: one is filled while the other is written.
 */
import { FaultError } from '../../base/fault.ts'
import type { BlobWriter, StoredForm } from '../blob-store.ts'
import type { DiskSpace } from './disk-space.ts'
import type { DataFile, FileLayer } from './file-layer.ts'
import { folderOf, incomingPath, type PackSet, packPath } from './pack-set.ts'
import { type PackWriter, PUT, type WriteDurability, writeFault } from './pack-writer.ts'
import {
  BlockChecks,
  headerBytes,
  type Key,
  type RecordHeader,
  sealHeader,
  tailBytes,
  writeHeader,
} from './record-format.ts'

const BUFFER_BYTES = 1024 * 1024
const SPARE_BUFFERS = 16
/** The blocks in memory are reused: new memory for every upload would load the garbage collector. */
const FIRST_BLOCK_BYTES = 64 * 1024
const BLOCK_BYTES = 256 * 1024
const SPARE_BLOCKS = 64

export interface IncomingTools {
  readonly files: FileLayer
  readonly packs: PackSet
  readonly writer: PackWriter
  readonly durability: WriteDurability
  readonly soloBytes: number
  readonly room: DiskSpace
  /** Whether the blob is stored already. Touches the blob if it is. */
  isHeld(key: Key): boolean
  /** Called when the file of a large blob is complete and renamed. */
  admitSolo(header: RecordHeader, number: number, bytes: number): void
  readonly gathering: UploadMemory
  /** Called with the number of bytes that are being written to disk. */
  wrote(bytes: number): void
}

/** The memory of all uploads together. */
export class UploadMemory {
  readonly #maxBytes: number
  #bytes = 0
  readonly spare: Buffer[] = []
  readonly #spare: readonly [first: Buffer[], later: Buffer[]] = [[], []]

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /**
   * Returns another block for an upload that has `had` blocks; undefined when all uploads together are at the limit.
   */
  takeBlock(had: number): Buffer | undefined {
    const size = had === 0 ? FIRST_BLOCK_BYTES : BLOCK_BYTES
    if (this.#bytes + size > this.#maxBytes) return undefined
    this.#bytes += size
    return this.#spare[had === 0 ? 0 : 1].pop() ?? Buffer.allocUnsafeSlow(size)
  }

  giveBlock(block: Buffer): void {
    this.#bytes -= block.length
    const spare = this.#spare[block.length === FIRST_BLOCK_BYTES ? 0 : 1]
    if (spare.length < SPARE_BLOCKS) spare.push(block)
  }
}

export class IncomingBlob implements BlobWriter {
  readonly #tools: IncomingTools
  readonly #key: Key
  readonly #form: StoredForm
  readonly #checks = new BlockChecks()
  #blocks: Buffer[] = []
  /** Bytes in the blocks; all blocks but the last are full. */
  #gathered = 0
  #startOfLast = 0
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
    const gathered = this.#bytes <= this.#tools.soloBytes ? this.#gather(bytes) : 0
    if (gathered < bytes.length) return this.#goSolo(bytes.subarray(gathered))
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
      const batch = this.#tools.writer.addPieces(this.#key, this.#form, this.#pieces(), PUT, this.#checks)
      this.#tools.wrote(this.#bytes)
      await batch.done
    } finally {
      this.#discard()
    }
  }

  abort(): void {
    if (this.#state === 'open') this.#discard()
  }

  #discard(): void {
    this.#state = 'ended'
    this.#giveGathered()
    this.#solo?.discard()
    this.#solo = undefined
  }

  /** Copies bytes into the blocks, and returns how many fit. */
  #gather(bytes: Uint8Array): number {
    for (let at = 0; at < bytes.length; ) {
      const last = this.#blocks.at(-1)
      const filled = this.#gathered - this.#startOfLast
      if (last === undefined || filled === last.length) {
        const block = this.#tools.gathering.takeBlock(this.#blocks.length)
        if (block === undefined) return at
        this.#startOfLast = this.#gathered
        this.#blocks.push(block)
        continue
      }
      const take = Math.min(last.length - filled, bytes.length - at)
      last.set(bytes.subarray(at, at + take), filled)
      this.#gathered += take
      at += take
    }
    return bytes.length
  }

  #pieces(): Uint8Array[] {
    return this.#blocks.map((block, i) =>
      i === this.#blocks.length - 1 ? block.subarray(0, this.#gathered - this.#startOfLast) : block,
    )
  }

  #giveGathered(): void {
    const { gathering } = this.#tools
    for (const block of this.#blocks) gathering.giveBlock(block)
    this.#blocks = []
    this.#gathered = 0
    this.#startOfLast = 0
  }

  async #goSolo(bytes: Uint8Array): Promise<void> {
    if (this.#form === 'identity') this.#tools.room.mayEverHold(this.#key.size)
    const solo = new SoloFile(this.#tools, headerBytes(this.#key.width))
    this.#solo = solo
    for (const piece of this.#pieces()) await solo.write(piece)
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
    const path = packPath(this.#number, true)
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
      .catch(() => {}) // the next start deletes the files left in incoming/
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

  /** Starts to write the filled buffer. Waits only while the previous write is still running. */
  async #turn(): Promise<void> {
    await this.#running
    const bytes = this.#filled
    if (bytes === 0) return
    await this.#tools.room.take(bytes)
    if (this.#hasEnded) return this.#tools.room.give(bytes)
    this.#taken += bytes
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
    this.#running.catch(() => {}) // the next write reports the error
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
