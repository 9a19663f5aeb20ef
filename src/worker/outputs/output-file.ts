import { close, closeSync, read, readSync } from 'node:fs'
import { promisify } from 'node:util'
import type { DigestFunction } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { type BulkPool, INLINE_BYTES } from '../../storage/bulk/bulk-pool.ts'
import { type OutputBlob, outputInMemory } from './blob-target.ts'
import type { RoomFiles } from './room-files.ts'

const PIECE_BYTES = 256 * 1024
const readAsync = promisify(read)
const closeAsync = promisify(close)

export interface OutputSource {
  readonly files: RoomFiles
  readonly real: string
  /** The path in error messages. */
  readonly name: string
  readonly size: number
}

/**
 * Hashes a file. A small one is read synchronously and kept in memory; a large one is hashed by the bulk pool and read
 * again to be sent.
 */
export async function outputFile(source: OutputSource, fn: DigestFunction, bulk: BulkPool): Promise<OutputBlob> {
  if (source.size <= INLINE_BYTES) {
    const bytes = readSmall(source)
    if (bytes !== undefined) return outputInMemory(digestOf(fn, bytes), bytes)
  }
  const inspection = bulk.inspect(fn, 'identity', Number.MAX_SAFE_INTEGER)
  try {
    for await (const piece of piecesOf(source)) await inspection.update(piece)
    const seen = await inspection.finish()
    if (seen === undefined) throw changed(source)
    const digest = { fn, hash: Buffer.from(seen.hash).toString('hex'), size: seen.size }
    return {
      digest,
      whole: () => gathered(exactly(source, digest.size)),
      pieces: () => exactly(source, digest.size),
    }
  } catch (error) {
    inspection.cancel()
    throw error
  }
}

/** Undefined when the file has grown since its size was read. */
function readSmall({ files, real, name }: OutputSource): Buffer | undefined {
  const fd = files.open(real, name)
  try {
    const bytes = Buffer.allocUnsafe(INLINE_BYTES + 1)
    let filled = 0
    for (let got = -1; got !== 0 && filled < bytes.length; filled += got)
      got = readSync(fd, bytes, filled, bytes.length - filled, null)
    return filled > INLINE_BYTES ? undefined : Buffer.from(bytes.subarray(0, filled))
  } finally {
    closeSync(fd)
  }
}

/** Each piece is valid until the next is read. */
async function* piecesOf({ files, real, name }: OutputSource): AsyncGenerator<Uint8Array> {
  const fd = files.open(real, name)
  try {
    const buffer = Buffer.allocUnsafe(PIECE_BYTES)
    for (;;) {
      const { bytesRead } = await readAsync(fd, buffer, 0, buffer.length, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await closeAsync(fd)
  }
}

async function* exactly(source: OutputSource, size: number): AsyncGenerator<Uint8Array> {
  let seen = 0
  for await (const piece of piecesOf(source)) {
    seen += piece.length
    if (seen > size) throw changed(source)
    yield piece
  }
  if (seen !== size) throw changed(source)
}

async function gathered(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Buffer[] = []
  for await (const piece of pieces) all.push(Buffer.from(piece))
  return Buffer.concat(all)
}

const changed = ({ name }: OutputSource): FaultError =>
  new FaultError({
    kind: 'unavailable',
    what: `the output ${JSON.stringify(name.slice(0, 200))} changed while it was read`,
  })
