import type { DigestList } from '../../base/digest.ts'
import { blobKeyAt } from '../../wire/calls/content-answers.ts'
import type { BlobSink, BlobStore } from '../blob-store.ts'
import { digestBatches, pickAt } from './batches.ts'
import type { GuardedUpstream, UpstreamEvents } from './outage.ts'

export interface SharedReadsOptions {
  readonly upstream: BlobStore
  readonly asking: GuardedUpstream
  readonly events: UpstreamEvents
}

/** The most bytes in memory at once for one call. */
const MOST_BYTES = 8 * 1024 * 1024

type Bytes = Uint8Array | undefined

/** Reads the blobs at `indices` from the upstream and reports each to `into`. */
export type SharedReads = (list: DigestList, indices: readonly number[], into: BlobSink) => Promise<void>

/**
 * Reads whole blobs that are absent locally from the upstream, and stores them. Concurrent calls share the download of
 * a blob: many clients that start the same build request the same blobs at the same time.
 */
export function sharedReads(local: BlobStore, { upstream, asking, events }: SharedReadsOptions): SharedReads {
  const coming = new Map<string, Promise<Bytes>>()

  const fetch = async (list: DigestList, resolvers: readonly PromiseWithResolvers<Bytes>[]): Promise<void> => {
    const kept: number[] = []
    const blobs: Uint8Array[] = []
    const question = async (): Promise<void> =>
      await upstream.readMany(list, {
        found(index, bytes) {
          const copy = Uint8Array.from(bytes)
          kept.push(index)
          blobs.push(copy)
          resolvers[index]?.resolve(copy)
        },
        absent: (index) => resolvers[index]?.resolve(undefined),
      })
    try {
      await asking.ask('read blobs', question, undefined)
      for (const { resolve } of resolvers) resolve(undefined)
    } catch (error) {
      for (const { reject } of resolvers) reject(error)
    }
    if (blobs.length > 0) await local.writeMany(pickAt(list, kept), blobs).catch(events.notKept)
  }

  const readSome: SharedReads = async (list, indices, into) => {
    const keyOf = (index: number) => `${list.fn}/${blobKeyAt(list, index)}`
    const fresh = [...new Map(indices.map((index) => [keyOf(index), index]))].filter(([key]) => !coming.has(key))
    const resolvers = fresh.map(([key]) => {
      const answer = Promise.withResolvers<Bytes>()
      answer.promise.catch(() => {})
      coming.set(key, answer.promise)
      return answer
    })
    const answers = indices.map((index) => [index, coming.get(keyOf(index))] as const)
    const indexes = fresh.map(([, index]) => index)
    const fetched = fetch(pickAt(list, indexes), resolvers).finally(() => {
      for (const [key] of fresh) coming.delete(key)
    })
    for (const [index, answer] of answers) {
      const bytes = await answer
      if (bytes === undefined) into.absent(index)
      else into.found(index, bytes)
    }
    // The blobs are stored locally now; later callers find them there, and memory holds at most one copy of each.
    await fetched
  }
  return async (list, indices, into) => {
    const { batches, large } = digestBatches(list, indices, MOST_BYTES)
    for (const some of [...batches, ...large.map((index) => [index])]) await readSome(list, some, into)
  }
}
