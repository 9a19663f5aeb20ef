import type { DigestList } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import { COMPRESSORS, type Compressor } from '../../model/compressor.ts'
import { sha256Unnamed, type UnnamedFunction } from '../digests/digest.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { fieldLength, putField, putHead } from '../messages/message-writer.ts'
import { DigestListReader, PendingDigest } from './digest-reader.ts'
import { digestLength, putDigest } from './digest-writer.ts'

/**
 * BatchReadBlobs: the response with many small blobs in one message.
 *
 * A digest contains the size of its blob, so the response is laid out before anything is read: every blob has its
 * offset in one buffer, and the store reads from disk into that buffer. In the common case, when all blobs exist and
 * are sent uncompressed, that buffer is the response. Otherwise the valid parts are copied into a second buffer.
 */
export interface BatchReadRequest {
  readonly instance: string
  readonly digests: DigestList
  /** The known compressors that the client accepts besides identity. */
  readonly acceptable: readonly Compressor[]
}

export function readBatchReadRequest(bytes: Uint8Array, unnamed: UnnamedFunction = sha256Unnamed): BatchReadRequest {
  const reader = new MessageReader(bytes, 'BatchReadBlobsRequest')
  const builder = new DigestListReader()
  const pending = new PendingDigest()
  const acceptable = new Set<Compressor>()
  let instance = ''
  let number = 0
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        instance = reader.instance()
        break
      case 2:
        builder.add(pending.clear().merge(reader), reader)
        break
      case 3:
        for (const value of reader.int32s()) if (COMPRESSORS[value] !== undefined) acceptable.add(COMPRESSORS[value])
        break
      case 4:
        number = reader.int32()
        break
      default:
        reader.skip()
    }
  }
  acceptable.delete('identity')
  return { instance, digests: builder.finish(number, unnamed(instance)), acceptable: [...acceptable] }
}

/** A response is a BlobSink as well: `store.readMany(request.digests, response)`. */
export interface BatchReadResponse {
  /** The place of blob `index`, of exactly its size; the caller must fill it before `finish`. */
  place(index: number): Uint8Array
  /** Copies blob `index`, uncompressed or compressed. */
  found(index: number, bytes: Uint8Array, compressor?: Compressor): void
  absent(index: number): void
  /** Sets another status for blob `index`, as a serialised google.rpc.Status. */
  failed(index: number, status: Uint8Array): void
  /** A blob without data and status counts as absent. */
  finish(): Uint8Array
}

const RESPONSE = 0x0a
const DIGEST = 0x0a
const DATA = 0x12
const STATUS = 0x1a
const COMPRESSOR = 0x20
const NOTHING = new Uint8Array(0)
/** google.rpc.Status { code: NOT_FOUND, message: "not found" }, as every absent blob has it. */
const NOT_FOUND = Uint8Array.of(0x08, 5, 0x12, 9, ...Buffer.from('not found'))

/** A blob that is not in its place in the buffer. */
interface Other {
  readonly status: Uint8Array
  readonly data: Uint8Array
  readonly compressor: number
}

const ABSENT: Other = { status: NOT_FOUND, data: NOTHING, compressor: 0 }

/** A buffer of exactly this size. */
export type Lend = (bytes: number) => Uint8Array

/** Throws for more than `maxBytes` of blobs, before the buffer is allocated. */
export function batchReadResponse(
  digests: DigestList,
  maxBytes: number,
  lend: Lend = Buffer.allocUnsafe,
): BatchReadResponse {
  const { count, sizes } = digests
  let wanted = 0
  let total = 0
  for (let index = 0; index < count; index++) {
    wanted += sizes[index] as number
    total += fieldLength(plainLength(digests, index))
  }
  if (wanted > maxBytes) throw invalid(`the blobs have ${wanted} bytes together, and one batch at most ${maxBytes}`)
  const plain = lend(total)
  const dataAt = layOut(digests, plain)
  const others: (Other | undefined)[] = new Array(count).fill(ABSENT)

  return {
    place(index) {
      others[index] = undefined
      const from = dataAt[index] as number
      return plain.subarray(from, from + (sizes[index] as number))
    },
    found(index, bytes, compressor = 'identity') {
      if (compressor !== 'identity') {
        const data = new Uint8Array(bytes) // not slice(): the slice of a Buffer is a view
        others[index] = { status: NOTHING, data, compressor: COMPRESSORS.indexOf(compressor) }
        return
      }
      if (bytes.length !== sizes[index]) throw new Error(`blob ${index} has ${bytes.length} bytes, not ${sizes[index]}`)
      others[index] = undefined
      plain.set(bytes, dataAt[index] as number)
    },
    absent(index) {
      others[index] = ABSENT
    },
    failed(index, status) {
      others[index] = { status, data: NOTHING, compressor: 0 }
    },
    finish: () => (others.some((other) => other !== undefined) ? assembled(digests, plain, others) : plain),
  }
}

/** Writes all but the data, for the case that all blobs exist; returns the offset of each blob's data. */
function layOut(digests: DigestList, plain: Uint8Array): Uint32Array {
  const dataAt = new Uint32Array(digests.count)
  let at = 0
  for (let index = 0; index < digests.count; index++) {
    const size = digests.sizes[index] as number
    at = putHead(plain, at, RESPONSE, plainLength(digests, index))
    at = putHead(plain, at, DIGEST, digestLength(digests, index))
    at = putDigest(plain, at, digests, index)
    at = putHead(plain, at, DATA, size)
    dataAt[index] = at
    at = putField(plain, at + size, STATUS, NOTHING)
  }
  return dataAt
}

const plainLength = (digests: DigestList, index: number): number =>
  fieldLength(digestLength(digests, index)) + fieldLength(digests.sizes[index] as number) + fieldLength(0)

/** The response when a blob is not in its place. */
function assembled(digests: DigestList, plain: Uint8Array, others: readonly (Other | undefined)[]): Uint8Array {
  let total = 0
  for (let index = 0; index < digests.count; index++) total += fieldLength(lengthOf(digests, index, others[index]))
  const out = Buffer.allocUnsafe(total)
  let from = 0
  let at = 0
  for (let index = 0; index < digests.count; index++) {
    const other = others[index]
    const end = from + fieldLength(plainLength(digests, index))
    if (other === undefined) {
      out.set(plain.subarray(from, end), at)
      at += end - from
    } else {
      at = putHead(out, at, RESPONSE, lengthOf(digests, index, other))
      at = putHead(out, at, DIGEST, digestLength(digests, index))
      at = putDigest(out, at, digests, index)
      if (other.data.length > 0) at = putField(out, at, DATA, other.data)
      if (other.compressor > 0) {
        out[at++] = COMPRESSOR
        out[at++] = other.compressor
      }
      at = putField(out, at, STATUS, other.status)
    }
    from = end
  }
  return out
}

function lengthOf(digests: DigestList, index: number, other: Other | undefined): number {
  if (other === undefined) return plainLength(digests, index)
  const data = other.data.length > 0 ? fieldLength(other.data.length) : 0
  const compressor = other.compressor > 0 ? 2 : 0
  return fieldLength(digestLength(digests, index)) + data + compressor + fieldLength(other.status.length)
}
