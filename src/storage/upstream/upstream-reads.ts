import type { DigestList } from '../../base/digest.ts'
import { digestAt } from '../../base/digest-list.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { type FaultError, invalid } from '../../base/fault.ts'
import { STATUS } from '../../grpc/status.ts'
import { type BlobAnswer, type BlobKey, blobKeyAt, readBatchReadResponse } from '../../wire/calls/content-answers.ts'
import { batchReadRequest } from '../../wire/calls/content-requests.ts'
import type { BlobSink, BlobStore } from '../blob-store.ts'
import type { BulkPool } from '../bulk/bulk-pool.ts'
import { digestBatches, pickAt } from './batches.ts'
import type { Lanes } from './lanes.ts'
import type { Offers } from './offers.ts'
import { isTrue } from './truth.ts'
import type { Upstream } from './upstream.ts'
import { batchFault, untrue, upstreamUnavailable } from './upstream-fault.ts'
import { openDownload } from './upstream-read.ts'

export interface ReadsOptions {
  readonly upstream: Upstream
  readonly instance: string
  readonly offers: () => Promise<Offers>
  readonly bulk: BulkPool
  readonly lanes: Lanes
}

const PATH = '/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchReadBlobs'
/** The limit for one blob in memory; larger ones need `read`. */
const MOST_WHOLE_BYTES = 256 * 1024 * 1024

/**
 * Reads whole blobs by BatchReadBlobs, and large blobs by ByteStream.Read, one after the other. Blobs that arrive are
 * reported even when another blob fails; the first failure is thrown at the end.
 */
export const upstreamReads =
  (options: ReadsOptions): BlobStore['readMany'] =>
  async (list, into) => {
    if (list.count === 0) return
    const { maxBatchBytes } = await options.offers()
    const places = placesOf(list)
    const firsts = [...places.values()].map(([first]) => first as number)
    const { batches, large } = digestBatches(list, firsts, maxBatchBytes)
    const target: Target = { list, places, into }
    const failures: unknown[] = []
    const noting = (work: Promise<void>) => work.catch((error: unknown) => void failures.push(error))
    await Promise.all([
      ...batches.map((batch) => noting(options.lanes.run(() => readBatch(options, pickAt(list, batch), target)))),
      noting(readLarge(options, large, target)),
    ])
    if (failures.length > 0) throw failures[0]
  }

/** The positions of each blob in the list: a blob that is requested twice is transferred once. */
type Places = ReadonlyMap<BlobKey, readonly number[]>

interface Target {
  readonly list: DigestList
  readonly places: Places
  readonly into: BlobSink
}

function placesOf(list: DigestList): Map<BlobKey, number[]> {
  const places = new Map<BlobKey, number[]>()
  for (let index = 0; index < list.count; index++) {
    const key = blobKeyAt(list, index)
    const known = places.get(key)
    if (known === undefined) places.set(key, [index])
    else known.push(index)
  }
  return places
}

async function readBatch({ upstream, instance, bulk }: ReadsOptions, list: DigestList, target: Target): Promise<void> {
  const answers = await upstream.ask(PATH, batchReadRequest(instance, list), readBatchReadResponse)
  const byKey = new Map(answers.map((answer) => [answer.key, answer]))
  let failure: FaultError | undefined
  for (let index = 0; index < list.count; index++) {
    const key = blobKeyAt(list, index)
    const answer = byKey.get(key)
    const wrong = await problemOf(bulk, list, { index, answer })
    if (wrong !== undefined) failure ??= wrong
    else if (answer !== undefined) deliver(target, key, answer.status.code === 0 ? answer.data : undefined)
  }
  if (failure !== undefined) throw failure
}

async function problemOf(
  bulk: BulkPool,
  list: DigestList,
  { index, answer }: { index: number; answer: BlobAnswer | undefined },
): Promise<FaultError | undefined> {
  if (answer === undefined) return upstreamUnavailable('the upstream left a blob out of its answer')
  if (answer.status.code === STATUS.notFound) return undefined
  if (answer.status.code !== 0) return batchFault(answer.status)
  if (answer.compressor !== 0)
    return upstreamUnavailable('the upstream compressed a blob although no compression was requested')
  return (await isTrue(bulk, digestAt(list, index), answer.data)) ? undefined : mismatch(list, index)
}

const mismatch = (list: DigestList, index: number): FaultError =>
  untrue(`what the upstream sent for ${formatDigest(digestAt(list, index))} does not match it`)

function deliver({ places, into }: Target, key: BlobKey, bytes: Uint8Array | undefined): void {
  for (const index of places.get(key) ?? []) {
    if (bytes === undefined) into.absent(index)
    else into.found(index, bytes)
  }
}

async function readLarge(options: ReadsOptions, indexes: readonly number[], target: Target): Promise<void> {
  let failure: unknown
  for (const index of indexes) {
    try {
      deliver(target, blobKeyAt(target.list, index), await wholeOf(options, target.list, index))
    } catch (error) {
      failure ??= error
    }
  }
  if (failure !== undefined) throw failure
}

/** Allocates memory for the received bytes, not for the size in the digest, because the client chose that size. */
async function wholeOf(
  { upstream, instance, bulk }: ReadsOptions,
  list: DigestList,
  index: number,
): Promise<Uint8Array | undefined> {
  const digest = digestAt(list, index)
  if (digest.size > MOST_WHOLE_BYTES) {
    throw invalid(`${formatDigest(digest)} is too large to be read as a whole`, 'unsupported')
  }
  const download = { instance, digest, form: 'identity', offset: 0, count: digest.size } as const
  const reader = await openDownload(upstream, download)
  if (reader === undefined) return undefined
  const pieces: Uint8Array[] = []
  for await (const piece of reader.pieces) pieces.push(Uint8Array.from(piece))
  const whole = Buffer.concat(pieces)
  if (!(await isTrue(bulk, digest, whole))) throw mismatch(list, index)
  return whole
}
