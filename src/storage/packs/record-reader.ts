/**
 * Reads records. Records of at most 64 KiB are read synchronously: header, payload and CRCs with one pread. Larger
 * records are read in pieces by libuv's thread pool, one piece ahead of the reader, into reused buffers.
 *
 * All bytes are checked before they are returned. The header must contain the whole key. Each block is checked by its
 * CRC, until all CRCs of the blob were correct once since the store was opened (or on every read, with `always`). A
 * corrupt blob is dropped from the index and reported absent. If some of its bytes were already returned, the read
 * fails.
 */
import { FaultError } from '../../base/fault.ts'
import type { ReadRange } from '../blob-store.ts'
import { decompressedNow, decompressing } from '../zstd.ts'
import { type Catalogue, NONE } from './catalogue.ts'
import type { DataFile } from './file-layer.ts'
import type { Pack, PackSet } from './pack-set.ts'
import {
  areBlocksRight,
  BLOCK_BYTES,
  blockCount,
  headerBytes,
  isHeaderOf,
  type Key,
  MAX_HEADER_BYTES,
  readHeader,
  recordBytes,
} from './record-format.ts'

const SMALL_BYTES = 64 * 1024
const PIECE_BYTES = 512 * 1024
/** A size a little above one piece is read as one piece: a short tail would cost as much as a whole piece. */
const ONLY_PIECE_BYTES = PIECE_BYTES + PIECE_BYTES / 4
const SPARE_BUFFERS = 32
const SPARE_LONG_BUFFERS = 8

export type VerifyReads = 'first' | 'always'

export interface ReaderOptions {
  readonly verifyReads: VerifyReads
  /** Called for each record that was dropped because its bytes are corrupt. */
  lost(key: Key): void
}

/** A record that is held open while its payload is read. */
interface Open {
  readonly record: number
  readonly pack: Pack
  readonly file: DataFile
  /** The position of the payload in the file. */
  readonly start: number
  readonly stored: number
  /** The CRC of each block; undefined when the blocks need no check. */
  readonly table: Buffer | undefined
}

export class RecordReader {
  readonly #packs: PackSet
  readonly #catalogue: Catalogue
  readonly #options: ReaderOptions
  readonly #scratch = Buffer.allocUnsafeSlow(SMALL_BYTES + MAX_HEADER_BYTES + 16)
  readonly #header = Buffer.allocUnsafeSlow(MAX_HEADER_BYTES)
  readonly #spare: Buffer[] = []
  readonly #spareLong: Buffer[] = []

  constructor(packs: PackSet, catalogue: Catalogue, options: ReaderOptions) {
    this.#packs = packs
    this.#catalogue = catalogue
    this.#options = options
  }

  /** Whether a record is read, and decompressed if it is zstd, synchronously. */
  isSmall(record: number, size: number): boolean {
    if (this.#catalogue.index.storedBytes(record) > SMALL_BYTES) return false
    return size <= SMALL_BYTES || !this.#catalogue.isZstd(record)
  }

  /** Returns the stored payload of a small record. The bytes are valid until the next call. */
  payloadNow(record: number, key: Key): Uint8Array | undefined {
    const stored = this.#catalogue.index.storedBytes(record)
    const pack = this.#catalogue.packOf(record)
    const bytes = recordBytes(key.width, stored)
    const have = pack === undefined ? 0 : this.#readNow(pack, bytes, this.#catalogue.positionOf(record))
    if (have < bytes || !isHeaderOf(this.#scratch, 0, key)) return this.#lose(record, key)
    const head = headerBytes(key.width)
    const payload = this.#scratch.subarray(head, head + stored)
    if (this.#options.verifyReads === 'always' || !this.#catalogue.isChecked(record)) {
      if (!areBlocksRight(payload, this.#scratch, head + stored)) return this.#lose(record, key)
      this.#catalogue.setChecked(record)
    }
    return payload
  }

  /** Returns a small blob, uncompressed. The bytes are valid until the next call. */
  blobNow(record: number, key: Key): Uint8Array | undefined {
    const payload = this.payloadNow(record, key)
    if (payload === undefined || !this.#catalogue.isZstd(record)) return payload
    return decompressedNow(payload, key.size) ?? this.#lose(record, key)
  }

  /** Returns a blob of any size, uncompressed, as one piece. */
  async blobWhole(key: Key): Promise<Uint8Array | undefined> {
    const record = this.#catalogue.find(key)
    if (record === NONE) return undefined
    if (this.isSmall(record, key.size)) return copied(this.blobNow(record, key))
    const pieces = await this.pieces(record, key, { offset: 0 })
    return pieces && gathered(pieces, key.size)
  }

  /** Returns the stored bytes, of any size, as one piece. */
  async payloadWhole(record: number, key: Key): Promise<Uint8Array | undefined> {
    const stored = this.#catalogue.index.storedBytes(record)
    if (stored <= SMALL_BYTES) return copied(this.payloadNow(record, key))
    const pieces = await this.stored(record, key, 0, stored)
    return pieces && gathered(pieces, stored)
  }

  /** Returns a blob of any size in pieces; undefined when its first piece is corrupt. */
  async pieces(record: number, key: Key, range: ReadRange): Promise<AsyncIterable<Uint8Array> | undefined> {
    const isZstd = this.#catalogue.isZstd(record)
    const end = Math.min(key.size, range.offset + (range.limit ?? key.size))
    if (!isZstd) return this.stored(record, key, range.offset, end)
    const stored = await this.stored(record, key, 0, this.#catalogue.index.storedBytes(record))
    return stored && this.#decompressed(stored, key, range.offset, end)
  }

  /** Returns the stored bytes `from` to `end`. The first piece is read and checked before this resolves. */
  async stored(record: number, key: Key, from: number, end: number): Promise<AsyncIterable<Uint8Array> | undefined> {
    if (from >= end) return nothing()
    const open = this.#open(record, key)
    if (open === undefined) return this.#lose(record, key)
    const size = end - from
    const first = size > PIECE_BYTES && size <= ONLY_PIECE_BYTES ? this.#takeLongBuffer() : this.#takeBuffer()
    try {
      const piece = await this.#readPiece(open, first, from, end)
      if (piece === undefined) return this.#lose(record, key)
      if (
        open.table !== undefined &&
        from === 0 &&
        piece.length === open.stored &&
        this.#catalogue.find(key) === record
      )
        this.#catalogue.setChecked(record)
      return this.#stream(key, first, piece, from, end)
    } finally {
      this.#packs.release(open.pack)
    }
  }

  /** Reads a whole solo file. Returns false when the blob is corrupt; it is absent then. */
  async isSoloRight(pack: Pack, took: (bytes: number) => Promise<void>, isStopped: () => boolean): Promise<boolean> {
    const found = this.#soloKey(pack)
    if (found === undefined) return pack.live === 0
    const { record, key } = found
    const open = this.#open(record, key, true)
    if (open === undefined) return this.#lose(record, key) === true
    const buffer = this.#takeBuffer()
    try {
      for (let at = 0; at < open.stored && !isStopped() && !pack.removed; ) {
        const piece = await this.#readPiece(open, buffer, at, open.stored)
        if (piece === undefined) return this.#lose(record, key) === true
        at += piece.length
        await took(piece.length)
      }
      return true
    } finally {
      this.#giveBuffer(buffer)
      this.#packs.release(pack)
    }
  }

  #soloKey(pack: Pack): { record: number; key: Key } | undefined {
    const buffer = Buffer.alloc(MAX_HEADER_BYTES)
    this.#packs.fileOf(pack).readSync(buffer, buffer.length, 0)
    const key = readHeader(buffer, 0)
    const record = key === undefined ? NONE : this.#catalogue.find(key)
    if (key === undefined || record === NONE) return undefined
    return this.#catalogue.isAt(record, { pack: pack.number, unit: 0 }) ? { record, key } : undefined
  }

  async *#stream(
    key: Key,
    firstBuffer: Buffer,
    firstPiece: Uint8Array,
    from: number,
    end: number,
  ): AsyncGenerator<Uint8Array> {
    let at = from + firstPiece.length
    if (at >= end) {
      yield firstPiece
      this.#giveBuffer(firstBuffer)
      return
    }
    // The record is looked up again: nothing was locked since the first piece was read, and the record may have been
    // copied.
    const record = this.#catalogue.find(key)
    const open = record === NONE ? undefined : this.#open(record, key)
    if (open === undefined) throw lossOf(key)
    let buffer = firstBuffer
    let other = this.#takeBuffer()
    let next = this.#readPiece(open, other, at, end)
    next.catch(() => {})
    try {
      yield firstPiece
      while (true) {
        const piece = await next
        if (piece === undefined) {
          this.#lose(record, key)
          throw lossOf(key)
        }
        const free = buffer
        buffer = other
        other = free
        at += piece.length
        if (at < end) next = this.#readPiece(open, other, at, end)
        next.catch(() => {})
        yield piece
        if (at >= end) break
      }
      const { table, stored } = open
      if (table !== undefined && from === 0 && end === stored && this.#catalogue.find(key) === record) {
        this.#catalogue.setChecked(record)
      }
    } finally {
      await next.catch(() => {})
      this.#packs.release(open.pack)
      this.#giveBuffer(buffer)
      this.#giveBuffer(other)
    }
  }

  async *#decompressed(
    stored: AsyncIterable<Uint8Array>,
    key: Key,
    from: number,
    end: number,
  ): AsyncGenerator<Uint8Array> {
    let at = 0
    try {
      for await (const piece of decompressing(stored)) {
        const start = Math.max(0, from - at)
        const stop = Math.min(piece.length, end - at)
        at += piece.length
        if (start < stop) yield start === 0 && stop === piece.length ? piece : piece.subarray(start, stop)
        if (at >= end) break
      }
    } catch (error) {
      throw error instanceof FaultError ? error : lossOf(key, error)
    }
    if (at < end) throw lossOf(key)
  }

  /** Checks the header and reads the CRCs; undefined when the record differs from the index. */
  #open(record: number, key: Key, always = this.#options.verifyReads === 'always'): Open | undefined {
    const pack = this.#catalogue.packOf(record)
    if (pack === undefined) return undefined
    const position = this.#catalogue.positionOf(record)
    const stored = this.#catalogue.index.storedBytes(record)
    const start = position + headerBytes(key.width)
    const isUnchecked = always || !this.#catalogue.isChecked(record)
    let file: DataFile
    try {
      file = this.#packs.hold(pack)
    } catch (error) {
      return lostBy(error)
    }
    try {
      const bytes = headerBytes(key.width)
      const isThere = file.readSync(this.#header, bytes, position) === bytes && isHeaderOf(this.#header, 0, key)
      const table = isUnchecked ? Buffer.allocUnsafe(4 * blockCount(stored)) : undefined
      const hasTable = table === undefined || file.readSync(table, table.length, start + stored) === table.length
      if (isThere && hasTable) return { record, pack, file, start, stored, table }
    } catch (error) {
      this.#packs.release(pack)
      return lostBy(error)
    }
    this.#packs.release(pack)
    return undefined
  }

  /** Reads from `at` until the buffer is full. Returns undefined when the bytes are missing or corrupt. */
  async #readPiece(open: Open, buffer: Buffer, at: number, end: number): Promise<Uint8Array | undefined> {
    const { file, start, stored, table } = open
    const from = table === undefined ? at : at - (at % BLOCK_BYTES)
    const wanted = table === undefined ? end : Math.min(stored, Math.ceil(end / BLOCK_BYTES) * BLOCK_BYTES)
    const bytes = Math.min(buffer.length, wanted - from)
    const piece = bytes === buffer.length ? buffer : buffer.subarray(0, bytes)
    let have = 0
    try {
      have = await file.read(piece, start + from)
    } catch (error) {
      return lostBy(error)
    }
    if (have < bytes) return undefined
    if (table !== undefined && !areBlocksRight(piece, table, (4 * from) / BLOCK_BYTES)) return undefined
    return piece.subarray(at - from, Math.min(bytes, end - from))
  }

  #readNow(pack: Pack, bytes: number, position: number): number {
    try {
      return this.#packs.fileOf(pack).readSync(this.#scratch, bytes, position)
    } catch (error) {
      return lostBy(error) ?? 0
    }
  }

  #lose(record: number, key: Key): undefined {
    if (this.#catalogue.find(key) === record) {
      this.#catalogue.drop(record)
      this.#options.lost(key)
    }
    return undefined
  }

  #takeBuffer(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
  }

  #takeLongBuffer(): Buffer {
    return this.#spareLong.pop() ?? Buffer.allocUnsafeSlow(ONLY_PIECE_BYTES)
  }

  #giveBuffer(buffer: Buffer): void {
    const isLong = buffer.length === ONLY_PIECE_BYTES
    const spare = isLong ? this.#spareLong : this.#spare
    if (spare.length < (isLong ? SPARE_LONG_BUFFERS : SPARE_BUFFERS)) spare.push(buffer)
  }
}

/** Must be called before the first await: after it, another read may overwrite the scratch buffer. */
const copied = (bytes: Uint8Array | undefined): Uint8Array | undefined => bytes && Buffer.from(bytes)

async function gathered(pieces: AsyncIterable<Uint8Array>, bytes: number): Promise<Uint8Array | undefined> {
  const whole = Buffer.allocUnsafeSlow(bytes)
  let have = 0
  try {
    for await (const piece of pieces) {
      whole.set(piece, have)
      have += piece.length
    }
  } catch (error) {
    if (error instanceof FaultError && error.fault.kind === 'bug') return undefined // the read dropped the blob
    throw error
  }
  return whole
}

/** A missing file or an I/O error means that the blob is lost. Other errors (too many open files) are temporary. */
function lostBy(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'EIO') return undefined
  if (error instanceof FaultError) throw error
  throw new FaultError({ kind: 'unavailable', what: `reading from disk failed (${code ?? 'unknown'})` }, error)
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

const lossOf = ({ hash, at, width, size }: Key, cause?: unknown): FaultError => {
  const name = Buffer.from(hash.buffer, hash.byteOffset + at, width).toString('hex')
  return new FaultError({ kind: 'bug', why: 'data-loss', what: `blob ${name}/${size} went bad on disk` }, cause)
}
