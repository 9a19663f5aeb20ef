import type { DigestFunction, DigestList } from '../../base/digest.ts'
import { DigestListBuilder, digestAt } from '../../base/digest-list.ts'
import { type BlobKey, blobKeyAt, readBatchUpdateResponse } from '../../wire/calls/content-answers.ts'
import { batchUpdateRequest } from '../../wire/calls/content-requests.ts'
import type { BlobStore } from '../blob-store.ts'
import { digestBatches, pickAt } from './batches.ts'
import type { Lanes } from './lanes.ts'
import type { Offers } from './offers.ts'
import type { Upstream } from './upstream.ts'
import { batchFault, upstreamUnavailable } from './upstream-fault.ts'
import { streamedUpload } from './upstream-writer.ts'

export interface WritesOptions {
  readonly upstream: Upstream
  readonly instance: string
  readonly offers: () => Promise<Offers>
  readonly lanes: Lanes
}

const PATH = '/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs'

/** One call of `writeMany`, until all of its blobs are written or have failed. */
interface Order {
  left: number
  failure: unknown
  readonly done: PromiseWithResolvers<void>
}

/** One blob, and the calls that wait for it. */
interface Parcel {
  readonly list: DigestList
  readonly index: number
  readonly bytes: Uint8Array
  readonly orders: Order[]
}

/**
 * Writes whole blobs by BatchUpdateBlobs. Calls in the same turn of the event loop share batches, and a blob of several
 * calls is sent once. A blob that is too large for a batch is streamed. Each call gets the outcome of its own blobs.
 */
export function upstreamWrites(options: WritesOptions): BlobStore['writeMany'] {
  let parcels = new Map<string, Parcel>()

  const post = (): void => {
    const byFunction = Map.groupBy(parcels.values(), ({ list }) => list.fn)
    parcels = new Map()
    for (const [fn, posted] of byFunction) void send(options, fn, posted)
  }

  return (list, blobs) => {
    if (list.count === 0) return Promise.resolve()
    const order: Order = { left: list.count, failure: undefined, done: Promise.withResolvers() }
    if (parcels.size === 0) setImmediate(post)
    for (let index = 0; index < list.count; index++) {
      const key = `${list.fn}/${blobKeyAt(list, index)}`
      const parcel = parcels.get(key)
      if (parcel !== undefined) parcel.orders.push(order)
      else parcels.set(key, { list, index, bytes: blobs[index] as Uint8Array, orders: [order] })
    }
    return order.done.promise
  }
}

function settle({ orders }: Parcel, failure: unknown): void {
  for (const order of orders) {
    order.failure ??= failure
    if (--order.left > 0) continue
    if (order.failure === undefined) order.done.resolve()
    else order.done.reject(order.failure)
  }
}

async function send(options: WritesOptions, fn: DigestFunction, parcels: readonly Parcel[]): Promise<void> {
  try {
    const { maxBatchBytes } = await options.offers()
    const all = listOf(fn, parcels)
    const { batches, large } = digestBatches(all, parcels.keys(), maxBatchBytes)
    const of = (indexes: readonly number[]) => indexes.map((index) => parcels[index] as Parcel)
    for (const batch of batches) void options.lanes.run(() => sendBatch(options, of(batch), pickAt(all, batch)))
    for (const parcel of of(large)) void options.lanes.run(() => sendLarge(options, parcel))
  } catch (error) {
    for (const parcel of parcels) settle(parcel, error)
  }
}

/** Never rejects: reports the outcome to the waiting calls. */
async function sendBatch(
  { upstream, instance }: WritesOptions,
  parcels: readonly Parcel[],
  list: DigestList,
): Promise<void> {
  const byKey = new Map<BlobKey, Parcel>(parcels.map((parcel) => [blobKeyAt(parcel.list, parcel.index), parcel]))
  try {
    const request = batchUpdateRequest(instance, list, parcels)
    for (const { key, status } of await upstream.ask(PATH, request, readBatchUpdateResponse)) {
      const parcel = byKey.get(key)
      if (parcel === undefined) continue
      byKey.delete(key)
      settle(parcel, status.code === 0 ? undefined : batchFault(status))
    }
    const unanswered = upstreamUnavailable('the upstream did not say whether it took a blob')
    for (const parcel of byKey.values()) settle(parcel, unanswered)
  } catch (error) {
    for (const parcel of byKey.values()) settle(parcel, error)
  }
}

async function sendLarge({ upstream, instance }: WritesOptions, parcel: Parcel): Promise<void> {
  try {
    const digest = digestAt(parcel.list, parcel.index)
    const writer = streamedUpload(upstream, { instance, digest, form: 'identity' })
    await writer.write(parcel.bytes)
    await writer.commit()
    settle(parcel, undefined)
  } catch (error) {
    settle(parcel, error)
  }
}

/** Makes one list of parcels from many lists. */
function listOf(fn: DigestFunction, parcels: readonly Parcel[]): DigestList {
  const builder = new DigestListBuilder(fn, parcels.length)
  for (const { list, index } of parcels) {
    builder.addRaw(list.hashes, index * list.width, list.sizes[index] as number)
  }
  return builder.build()
}
