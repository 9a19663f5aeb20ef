/**
 * Reads a pack from start to end, record by record, in windows of 1 MiB. Dead records (records that the index does not
 * point to) are skipped; large ones are not read at all.
 *
 * The length in each header leads to the next record, so a damaged header ends the sequential walk. The records behind
 * it are not lost: the index has their positions, and those that were not visited are read one by one.
 */
import { type Catalogue, NONE } from './catalogue.ts'
import type { DataFile } from './file-layer.ts'
import type { Pack, PackSet } from './pack-set.ts'
import {
  areBlocksRight,
  headerBytes,
  MAX_HEADER_BYTES,
  type RecordHeader,
  readHeader,
  recordBytes,
  UNIT_BYTES,
} from './record-format.ts'

const WINDOW_BYTES = 1024 * 1024

/** A record that the index points to. Its bytes are valid until the next record is requested. */
export interface Live {
  readonly record: number
  readonly unit: number
  /** Undefined when the record is damaged. */
  readonly content: { readonly header: RecordHeader; readonly payload: Uint8Array } | undefined
}

/** A part of a file in memory. */
export class Window {
  readonly #file: DataFile
  #buffer = Buffer.allocUnsafeSlow(WINDOW_BYTES)
  #from = 0
  #have = 0
  /** Bytes read from the file so far. */
  readBytes = 0

  constructor(file: DataFile) {
    this.#file = file
  }

  /** Returns the bytes from `position` on: at least `bytes`, unless the file ends before. */
  async at(position: number, bytes: number): Promise<Buffer> {
    const offset = position - this.#from
    if (offset < 0 || offset + bytes > this.#have) await this.#load(position, bytes)
    return this.#buffer.subarray(position - this.#from, this.#have)
  }

  async #load(position: number, bytes: number): Promise<void> {
    if (bytes > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(bytes)
    this.#from = position
    this.#have = 0
    this.#have = await this.#file.read(this.#buffer, position)
    this.readBytes += this.#have
  }
}

export class PackWalk {
  readonly #catalogue: Catalogue
  readonly #packs: PackSet

  constructor(catalogue: Catalogue, packs: PackSet) {
    this.#catalogue = catalogue
    this.#packs = packs
  }

  async *live(pack: Pack): AsyncGenerator<Live> {
    const window = new Window(this.#packs.hold(pack))
    try {
      let position = 0
      while (position < pack.end) {
        const header = readHeader(await window.at(position, MAX_HEADER_BYTES), 0)
        const bytes = header === undefined ? 0 : recordBytes(header.width, header.stored)
        if (header === undefined || position + bytes > pack.end) break
        const record = this.#liveAt(pack, header, position)
        if (record !== NONE) yield await this.#contentOf(window, record, position, bytes)
        position += bytes
      }
      if (position < pack.end) yield* this.#restOf(pack, window, position)
    } finally {
      this.#packs.release(pack)
    }
  }

  async *#restOf(pack: Pack, window: Window, from: number): AsyncGenerator<Live> {
    const records = await this.#catalogue.recordsIn(pack.number)
    records.sort((one, other) => this.#catalogue.positionOf(one) - this.#catalogue.positionOf(other))
    for (const record of records) {
      const position = this.#catalogue.positionOf(record)
      if (this.#catalogue.packOf(record) !== pack || position < from) continue
      const header = readHeader(await window.at(position, MAX_HEADER_BYTES), 0)
      const bytes = header === undefined ? 0 : recordBytes(header.width, header.stored)
      if (header === undefined || this.#liveAt(pack, header, position) !== record) {
        if (this.#catalogue.isAt(record, { pack: pack.number, unit: position / UNIT_BYTES }))
          yield { record, unit: position / UNIT_BYTES, content: undefined }
      } else yield await this.#contentOf(window, record, position, bytes)
    }
  }

  #liveAt(pack: Pack, header: RecordHeader, position: number): number {
    const record = this.#catalogue.find(header)
    if (record === NONE) return NONE
    return this.#catalogue.isAt(record, { pack: pack.number, unit: position / UNIT_BYTES }) ? record : NONE
  }

  async #contentOf(window: Window, record: number, position: number, bytes: number): Promise<Live> {
    const unit = position / UNIT_BYTES
    const buffer = await window.at(position, bytes)
    const header = buffer.length < bytes ? undefined : readHeader(buffer, 0)
    if (header === undefined) return { record, unit, content: undefined }
    const start = headerBytes(header.width)
    const payload = buffer.subarray(start, start + header.stored)
    return {
      record,
      unit,
      content: areBlocksRight(payload, buffer, start + header.stored) ? { header, payload } : undefined,
    }
  }
}
