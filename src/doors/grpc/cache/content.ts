import type { DigestList } from '../../../base/digest.ts'
import { DigestListBuilder, digestAt, digestListOf, hashAt } from '../../../base/digest-list.ts'
import { FaultError, invalid } from '../../../base/fault.ts'
import { hashOf } from '../../../base/hashing/hash-of.ts'
import type { UnaryMethod } from '../../../grpc/service.ts'
import type { Compressor } from '../../../model/compressor.ts'
import type { ReapiLimits } from '../../../services/instances/cache-limits.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import {
  type BatchReadRequest,
  batchReadResponse,
  type Lend,
  readBatchReadRequest,
} from '../../../wire/hot/batch-read.ts'
import { batchUpdateResponse, readBatchUpdateRequest } from '../../../wire/hot/batch-update.ts'
import { findMissingResponse, readFindMissingRequest } from '../../../wire/hot/find-missing.ts'
import { faultStatusToProto } from '../../../wire/reapi/grpc-fault.ts'
import { pack, unpackBlob, type ZstdBlob } from './packing.ts'

/** A larger blob is hashed by another thread and stored separately, so that it does not block the event loop. */
const HASHED_HERE_BYTES = 64 * 1024

/** The calls of ContentAddressableStorage that carry many blobs, or many names of blobs, in one message. */
export const findMissingBlobs = (instances: Instances): UnaryMethod => ({
  kind: 'unary',
  readsAtOnce: true,
  keepsNothing: true,
  handle(bytes) {
    const request = readFindMissingRequest(bytes, (name) => instances(name).unnamedFunction)
    const absent = new Uint8Array(request.digests.count)
    const answered = instances(request.instance).blobs.missing(request.digests, absent)
    if (answered === undefined) return findMissingResponse(request, absent)
    // A copy: the response consists of parts of the request, whose buffer is reused.
    const kept = { ...request, bytes: Uint8Array.from(bytes) }
    return answered.then(() => findMissingResponse(kept, absent))
  },
})

export const batchUpdateBlobs = (instances: Instances, limits: ReapiLimits): UnaryMethod => ({
  kind: 'unary',
  keepsNothing: true,
  async handle(bytes) {
    const { instance, digests, blobs, compressors } = readBatchUpdateRequest(
      bytes,
      (name) => instances(name).unnamedFunction,
    )
    checkTotal(digests, limits)
    const statuses: (Uint8Array | undefined)[] = new Array(digests.count).fill(undefined)
    const sound = new DigestListBuilder(digests.fn, digests.count)
    const contents: Uint8Array[] = []
    const { blobs: store, uploads } = instances(instance)
    for (let index = 0; index < digests.count; index++) {
      try {
        const blob = await unpacked(blobs[index] as Uint8Array, compressors[index], digests.sizes[index] as number)
        if (blob.length > HASHED_HERE_BYTES)
          await uploads.writeMany(digestListOf(digests.fn, [digestAt(digests, index)]), [blob])
        else {
          check(digests, index, blob)
          sound.addRaw(digests.hashes, index * digests.width, blob.length)
          contents.push(blob)
        }
      } catch (error) {
        // The error of one blob concerns that blob only; a full store fails the whole call.
        if (!(error instanceof FaultError) || error.fault.kind !== 'invalid') throw error
        statuses[index] = faultStatusToProto(error)
      }
    }
    if (contents.length > 0) await store.writeMany(sound.build(), contents)
    return batchUpdateResponse(digests, statuses)
  },
})

function totalBytes({ sizes, count }: DigestList): number {
  let total = 0
  for (let index = 0; index < count; index++) total += sizes[index] as number
  return total
}

function checkTotal(digests: DigestList, { maxBatchBytes }: ReapiLimits): void {
  const total = totalBytes(digests)
  if (total <= maxBatchBytes) return
  throw invalid(`the blobs have ${total} bytes together, and one batch at most ${maxBatchBytes}`)
}

function unpacked(
  blob: Uint8Array,
  compressor: Compressor | undefined,
  size: number,
): Uint8Array | Promise<Uint8Array> {
  if (compressor === 'identity') return blob
  if (compressor === undefined) throw invalid('the compressor of the data is not supported')
  return unpackBlob(blob, compressor, size)
}

function check(digests: DigestList, index: number, blob: Uint8Array): void {
  const size = digests.sizes[index] as number
  if (blob.length !== size) throw invalid(`the blob has ${blob.length} bytes, its digest says ${size}`)
  const claimed = hashAt(digests, index)
  if (Buffer.compare(hashOf(digests.fn, blob), claimed) !== 0) throw invalid('the blob does not match its digest')
}

export const batchReadBlobs = (instances: Instances, limits: ReapiLimits): UnaryMethod => ({
  kind: 'unary',
  readsAtOnce: true,
  keepsNothing: true,
  handle(bytes, call) {
    const request = readBatchReadRequest(bytes, (name) => instances(name).unnamedFunction)
    const room = call.room(Math.min(totalBytes(request.digests), limits.maxBatchBytes))
    const answer = () =>
      readAnswer(instances(request.instance).blobs, request, { limits, lend: (bytes) => call.lend(bytes) })
    return room === undefined ? answer() : room.then(answer)
  },
})

function readAnswer(
  blobs: BlobStore,
  request: BatchReadRequest,
  { limits, lend }: { limits: ReapiLimits; lend: Lend },
): Uint8Array | Promise<Uint8Array> {
  const [compressor] = request.acceptable as ZstdBlob[]
  if (compressor !== undefined) return packedAnswer(blobs, request, { compressor, limits })
  const response = batchReadResponse(request.digests, limits.maxBatchBytes, lend)
  const answered = blobs.readMany(request.digests, response)
  return answered === undefined ? response.finish() : answered.then(() => response.finish())
}

/** A blob that does not get smaller is sent uncompressed. */
async function packedAnswer(
  blobs: BlobStore,
  { digests }: BatchReadRequest,
  { compressor, limits }: { compressor: ZstdBlob; limits: ReapiLimits },
): Promise<Uint8Array> {
  const response = batchReadResponse(digests, limits.maxBatchBytes)
  const found: [number, Uint8Array][] = []
  await blobs.readMany(digests, {
    found: (index, bytes) => found.push([index, Uint8Array.from(bytes)]),
    absent: (index) => response.absent(index),
  })
  for (const [index, bytes] of found) {
    const smaller = await pack(bytes, compressor)
    if (smaller.length < bytes.length) response.found(index, smaller, compressor)
    else response.found(index, bytes)
  }
  return response.finish()
}
