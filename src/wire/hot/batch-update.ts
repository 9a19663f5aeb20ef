import type { DigestList } from '../../base/digest.ts'
import { COMPRESSORS, type Compressor } from '../../model/compressor.ts'
import { sha256Unnamed, type UnnamedFunction } from '../digests/digest.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { fieldLength, putField, putHead } from '../messages/message-writer.ts'
import { DigestListReader, PendingDigest } from './digest-reader.ts'
import { digestLength, putDigest } from './digest-writer.ts'

/**
 * BatchUpdateBlobs: many small blobs in one message. The bytes of each blob are a view into the message, so a caller
 * that keeps one view keeps the whole message in memory.
 */
export interface BatchUpdateRequest {
  readonly instance: string
  readonly digests: DigestList
  /** The bytes for digest `i`, compressed with `compressors[i]`. */
  readonly blobs: readonly Uint8Array[]
  /** Undefined for an unknown compressor: only that blob is refused. */
  readonly compressors: readonly (Compressor | undefined)[]
}

export function readBatchUpdateRequest(
  bytes: Uint8Array,
  unnamed: UnnamedFunction = sha256Unnamed,
): BatchUpdateRequest {
  const reader = new MessageReader(bytes, 'BatchUpdateBlobsRequest')
  const builder = new DigestListReader()
  const pending = new PendingDigest()
  const blobs: Uint8Array[] = []
  const compressors: (Compressor | undefined)[] = []
  let instance = ''
  let number = 0
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        instance = reader.instance()
        break
      case 2: {
        const { data, compressor } = readOne(reader, pending.clear())
        builder.add(pending, reader)
        blobs.push(data)
        compressors.push(COMPRESSORS[compressor])
        break
      }
      case 5:
        number = reader.int32()
        break
      default:
        reader.skip()
    }
  }
  return { instance, digests: builder.finish(number, unnamed(instance)), blobs, compressors }
}

const NOTHING = new Uint8Array(0)

function readOne(reader: MessageReader, digest: PendingDigest): { data: Uint8Array; compressor: number } {
  let data: Uint8Array = NOTHING
  let compressor = 0
  const outer = reader.enter()
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        digest.merge(reader)
        break
      case 2:
        data = reader.view()
        break
      case 3:
        compressor = reader.int32()
        break
      default:
        reader.skip()
    }
  }
  reader.leave(outer)
  return { data, compressor }
}

const RESPONSE = 0x0a
const DIGEST = 0x0a
const STATUS = 0x12

/** In the order of the request. `statuses[i]` is a serialised google.rpc.Status; undefined where blob `i` is stored. */
export function batchUpdateResponse(digests: DigestList, statuses: readonly (Uint8Array | undefined)[]): Uint8Array {
  let total = 0
  for (let index = 0; index < digests.count; index++) total += fieldLength(oneLength(digests, statuses[index], index))
  const out = Buffer.allocUnsafe(total)
  let at = 0
  for (let index = 0; index < digests.count; index++) {
    const status = statuses[index]
    at = putHead(out, at, RESPONSE, oneLength(digests, status, index))
    at = putHead(out, at, DIGEST, digestLength(digests, index))
    at = putDigest(out, at, digests, index)
    // An OK status is encoded as an empty message: some clients treat a missing status as a missing response.
    at = putField(out, at, STATUS, status ?? NOTHING)
  }
  return out
}

const oneLength = (digests: DigestList, status: Uint8Array | undefined, index: number): number =>
  fieldLength(digestLength(digests, index)) + fieldLength(status?.length ?? 0)
