/** One space of a pack store, as a blob store. The synchronous methods allocate no object per blob. */
import { DIGEST_FUNCTIONS, type DigestList } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import type { BlobReader, BlobSink, BlobStore, ReadRange } from '../blob-store.ts'
import { tagOf } from '../index/tag.ts'
import { type Catalogue, catalogueKey, NONE } from './catalogue.ts'
import type { DiskSpace } from './disk-space.ts'
import { IncomingBlob, type IncomingTools } from './incoming-blob.ts'
import { type Batch, type PackWriter, PUT } from './pack-writer.ts'
import type { Key } from './record-format.ts'
import type { RecordReader } from './record-reader.ts'

export interface SpaceTools {
  readonly catalogue: Catalogue
  readonly reader: RecordReader
  readonly writer: PackWriter
  readonly room: DiskSpace
  readonly incoming: IncomingTools
  /** Called with the bytes of blobs that are being written to a pack. */
  wrote(bytes: number): void
}

export function packSpace(tools: SpaceTools, space: number): BlobStore {
  const { catalogue, reader } = tools
  const tag = Object.fromEntries(
    Object.keys(DIGEST_FUNCTIONS).map((fn) => [fn, tagOf(space, fn as keyof typeof DIGEST_FUNCTIONS)]),
  ) as Record<keyof typeof DIGEST_FUNCTIONS, number>
  return {
    missing: (list, absent) => catalogue.missing(tag[list.fn], list, absent),
    find(fn, hash) {
      const record = catalogue.findByHash(tag[fn], Buffer.from(hash, 'hex'))
      if (record === NONE) return undefined
      catalogue.touch(record)
      return { fn, hash, size: catalogue.index.size(record) }
    },
    readMany: (list, into) => readMany(tools, tag[list.fn], list, into),
    async read(digest, range, signal) {
      const key = catalogueKey(tag[digest.fn], digest)
      const record = catalogue.find(key)
      if (record === NONE) return undefined
      catalogue.touch(record)
      const answer = await readOne(catalogue, reader, record, key, range)
      return answer && signal ? { form: answer.form, pieces: until(signal, answer.pieces) } : answer
    },
    writeMany: (list, blobs) => writeMany(tools, tag[list.fn], list, blobs),
    write: (digest, form) => new IncomingBlob(tools.incoming, catalogueKey(tag[digest.fn], digest), form),
  }
}

const scratchKey = (tag: number, { hashes, width }: DigestList): Key => ({ tag, hash: hashes, at: 0, width, size: 0 })

function readMany(
  { catalogue, reader }: SpaceTools,
  tag: number,
  list: DigestList,
  into: BlobSink,
): void | Promise<void> {
  const key = scratchKey(tag, list)
  let large: number[] | undefined
  for (let i = 0; i < list.count; i++) {
    key.at = i * list.width
    key.size = list.sizes[i] as number
    const record = catalogue.find(key)
    if (record === NONE) {
      into.absent(i)
      continue
    }
    catalogue.touch(record)
    if (!reader.isSmall(record, key.size)) {
      large ??= []
      large.push(i)
      continue
    }
    const bytes = reader.blobNow(record, key)
    if (bytes === undefined) into.absent(i)
    else into.found(i, bytes)
  }
  if (large !== undefined) return readLarge(reader, large, { tag, list, into })
}

interface Question {
  readonly tag: number
  readonly list: DigestList
  readonly into: BlobSink
}

async function readLarge(
  reader: RecordReader,
  indexes: readonly number[],
  { tag, list, into }: Question,
): Promise<void> {
  for (const i of indexes) {
    const key = { tag, hash: list.hashes, at: i * list.width, width: list.width, size: list.sizes[i] as number }
    const bytes = await reader.blobWhole(key)
    if (bytes === undefined) into.absent(i)
    else into.found(i, bytes)
  }
}

async function readOne(
  catalogue: Catalogue,
  reader: RecordReader,
  record: number,
  key: Key,
  range: ReadRange,
): Promise<BlobReader | undefined> {
  const { offset, limit } = range
  const isWhole = offset === 0 && (limit === undefined || limit >= key.size)
  const asStored = catalogue.isZstd(record) && isWhole && range.acceptZstd === true
  const form = asStored ? 'zstd' : 'identity'
  if (reader.isSmall(record, key.size)) {
    const bytes = asStored ? reader.payloadNow(record, key) : reader.blobNow(record, key)
    const end = asStored ? undefined : offset + (limit ?? key.size)
    return bytes && { form, pieces: onePiece(Buffer.from(bytes.subarray(offset, end))) }
  }
  const stored = catalogue.index.storedBytes(record)
  const pieces = await (asStored ? reader.stored(record, key, 0, stored) : reader.pieces(record, key, range))
  return pieces && { form, pieces }
}

async function* until(signal: AbortSignal, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    if (signal.aborted) throw new FaultError({ kind: 'cancelled', what: 'the reader turned away' })
    yield piece
  }
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}

function writeMany(tools: SpaceTools, tag: number, list: DigestList, blobs: readonly Uint8Array[]): Promise<void> {
  let bytes = 0
  for (const blob of blobs) bytes += blob.length
  const room = tools.room.wait(bytes)
  return room === undefined ? addMany(tools, tag, list, blobs) : room.then(() => addMany(tools, tag, list, blobs))
}

function addMany(tools: SpaceTools, tag: number, list: DigestList, blobs: readonly Uint8Array[]): Promise<void> {
  const { catalogue, writer, incoming } = tools
  const key = scratchKey(tag, list)
  const waits: Promise<void>[] = []
  let batch: Batch | undefined
  let added = 0
  for (let i = 0; i < list.count; i++) {
    key.at = i * list.width
    key.size = list.sizes[i] as number
    const bytes = blobs[i] as Uint8Array
    if (catalogue.holds(key)) continue
    if (bytes.length > incoming.soloBytes) {
      waits.push(writeLarge(incoming, { ...key }, bytes))
      continue
    }
    const joined = writer.add(key, 'identity', bytes, PUT)
    added += bytes.length
    if (joined !== batch) waits.push(joined.done)
    batch = joined
  }
  if (added > 0) tools.wrote(added)
  if (waits.length === 0) return Promise.resolve()
  return waits.length === 1 ? (waits[0] as Promise<void>) : Promise.all(waits).then(() => {})
}

async function writeLarge(incoming: IncomingTools, key: Key, bytes: Uint8Array): Promise<void> {
  const writer = new IncomingBlob(incoming, key, 'identity')
  try {
    await writer.write(bytes)
    await writer.commit()
  } finally {
    writer.abort()
  }
}
