/**
 * A record is one blob in a pack, with all its metadata, so that the packs alone can restore the index.
 *
 *    0  u32  magic "WLR1"
 *    4  u32  CRC-32 of the rest of the header
 *    8  u32  tag: space and digest function, combined as in ../index/tag.ts
 *   12  u8   bytes of the hash        13  u8  form: 0 identity, 1 zstd        14  u16  zero
 *   16  u64  size of the blob (part of its name)
 *   24  u64  bytes of the payload as stored
 *   32  u32  origin: the pack         36  u32 … and the offset in 8-byte units where this record was first written
 *   40       hash, zeros up to a multiple of 8
 *    …       payload
 *    …  u32  CRC-32 of each 64 KiB of payload, zeros up to a multiple of 8
 *
 * All numbers are little-endian. A copy keeps its origin. So of two records with the same name, the newer one is known
 * even when the older one was copied behind it. This matters for the action cache, whose values change.
 */
import { crc32 } from 'node:zlib'
import type { StoredForm } from '../blob-store.ts'

export const BLOCK_BYTES = 64 * 1024
export const UNIT_BYTES = 8
const MAGIC = 0x31524c57
export const MAGIC_BYTES = Buffer.from('WLR1')
const FIXED_BYTES = 40
const HASH_WIDTHS: ReadonlySet<number> = new Set([16, 20, 32, 48, 64])
/** The size of the longest header. */
export const MAX_HEADER_BYTES = FIXED_BYTES + 64

export const spaceOf = (tag: number): number => tag >>> 4

export const functionNumberOf = (tag: number): number => tag & 0x0f

const aligned = (bytes: number): number => Math.ceil(bytes / UNIT_BYTES) * UNIT_BYTES

export const headerBytes = (width: number): number => aligned(FIXED_BYTES + width)

export const blockCount = (stored: number): number => Math.ceil(stored / BLOCK_BYTES)

export const tailBytes = (width: number, stored: number): number =>
  recordBytes(width, stored) - headerBytes(width) - stored

export const recordBytes = (width: number, stored: number): number =>
  aligned(headerBytes(width) + stored + 4 * blockCount(stored))

/** The key of a blob. It refers to a hash inside a buffer, so that no copy is needed. */
export interface Key {
  tag: number
  hash: Uint8Array
  /** The offset of the hash in `hash`. */
  at: number
  width: number
  size: number
}

export interface RecordHeader extends Key {
  form: StoredForm
  stored: number
  originPack: number
  originUnit: number
}

/** Writes everything but the origin and the CRC. */
export function writeHeader(into: Buffer, at: number, key: Key, form: StoredForm, stored: number): void {
  into.writeUInt32LE(MAGIC, at)
  into.writeUInt32LE(key.tag, at + 8)
  into.writeUInt32LE(key.width | (form === 'zstd' ? 0x100 : 0), at + 12)
  writeNumber(into, at + 16, key.size)
  writeNumber(into, at + 24, stored)
  const hash = at + FIXED_BYTES
  for (let i = 0; i < key.width; i++) into[hash + i] = key.hash[key.at + i] as number
  for (let i = hash + key.width; i < at + headerBytes(key.width); i++) into[i] = 0
}

export function sealHeader(into: Buffer, at: number, originPack: number, originUnit: number): void {
  into.writeUInt32LE(originPack, at + 32)
  into.writeUInt32LE(originUnit, at + 36)
  into.writeUInt32LE(crc32(into.subarray(at + 8, at + headerBytes(into[at + 12] as number))), at + 4)
}

/** Returns undefined when there is no complete and undamaged header at `at`. */
export function readHeader(from: Buffer, at: number): RecordHeader | undefined {
  if (from.length < at + FIXED_BYTES || from.readUInt32LE(at) !== MAGIC) return undefined
  const width = from[at + 12] as number
  if (!HASH_WIDTHS.has(width) || from.length < at + headerBytes(width)) return undefined
  if (crc32(from.subarray(at + 8, at + headerBytes(width))) !== from.readUInt32LE(at + 4)) return undefined
  const header = emptyHeader()
  fillHeader(header, from, at)
  return header
}

/** Reads a header that is known to be valid into an object that the caller reuses. */
export function fillHeader(header: RecordHeader, from: Buffer, at: number): void {
  header.tag = from.readUInt32LE(at + 8)
  header.hash = from
  header.at = at + FIXED_BYTES
  header.width = from[at + 12] as number
  header.size = readNumber(from, at + 16)
  header.form = from[at + 13] === 1 ? 'zstd' : 'identity'
  header.stored = readNumber(from, at + 24)
  header.originPack = from.readUInt32LE(at + 32)
  header.originUnit = from.readUInt32LE(at + 36)
}

export const emptyHeader = (): RecordHeader => ({
  tag: 0,
  hash: Buffer.alloc(0),
  at: 0,
  width: 0,
  size: 0,
  form: 'identity',
  stored: 0,
  originPack: 0,
  originUnit: 0,
})

/**
 * Whether the header at `at` belongs to this blob. This is on the hot path: it allocates no object and checks no CRC,
 * but compares the whole key.
 */
export function isHeaderOf(from: Buffer, at: number, key: Key): boolean {
  if (from.length < at + FIXED_BYTES + key.width) return false
  if (from.readUInt32LE(at + 8) !== key.tag || from[at + 12] !== key.width) return false
  if (readNumber(from, at + 16) !== key.size) return false
  const hash = at + FIXED_BYTES
  for (let i = 0; i < key.width; i++) if (from[hash + i] !== key.hash[key.at + i]) return false
  return true
}

/** Whether the CRC of each block of the payload equals the CRC in `table` from `at` on. */
export function areBlocksRight(payload: Uint8Array, table: Buffer, at: number): boolean {
  for (let from = 0, entry = at; from < payload.length; from += BLOCK_BYTES, entry += 4) {
    const block = payload.length <= BLOCK_BYTES ? payload : payload.subarray(from, from + BLOCK_BYTES)
    if (crc32(block) !== table.readUInt32LE(entry)) return false
  }
  return true
}

/** Computes the CRCs of a payload that arrives in pieces of any size. */
export class BlockChecks {
  readonly #done: number[] = []
  #crc = 0
  #have = 0

  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const take = Math.min(BLOCK_BYTES - this.#have, bytes.length - at)
      this.#crc = crc32(take === bytes.length ? bytes : bytes.subarray(at, at + take), this.#crc)
      this.#have += take
      at += take
      if (this.#have === BLOCK_BYTES) this.#endBlock()
    }
  }

  /** Writes the CRCs and the zeros behind them: `tailBytes` in total. */
  writeTail(into: Buffer, at: number, bytes: number): void {
    if (this.#have > 0) this.#endBlock()
    let to = at
    for (const crc of this.#done) to = into.writeUInt32LE(crc, to)
    into.fill(0, to, at + bytes)
  }

  #endBlock(): void {
    this.#done.push(this.#crc)
    this.#crc = 0
    this.#have = 0
  }
}

function writeNumber(into: Buffer, at: number, value: number): void {
  into.writeUInt32LE(value % 2 ** 32, at)
  into.writeUInt32LE(Math.floor(value / 2 ** 32), at + 4)
}

const readNumber = (from: Buffer, at: number): number => from.readUInt32LE(at) + from.readUInt32LE(at + 4) * 2 ** 32
