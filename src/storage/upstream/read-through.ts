import type { Clock } from '../../base/clock.ts'
import type { Digest, DigestList } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import type { BlobReader, BlobSink, BlobStore, ReadRange } from '../blob-store.ts'
import { pickAt } from './batches.ts'
import { Fill, unlessAborted } from './fill.ts'
import type { GuardedUpstream, UpstreamEvents } from './outage.ts'
import { sharedReads } from './shared-reads.ts'
import { bothWriter } from './write-through.ts'

export interface ReadThroughOptions {
  /** Whole blobs of the upstream are stored without another check: `upstreamStore` verifies them. */
  readonly upstream: BlobStore
  readonly asking: GuardedUpstream
  readonly events: UpstreamEvents
  readonly clock: Pick<Clock, 'after'>
  /** Whether writes also go to the upstream. */
  readonly writeThrough: boolean
}

/** Each fill has a window of 1 MiB in memory. Further downloads are not stored locally. */
const MOST_FILLS = 64

/**
 * Reads from the local store and, on a miss, from an upstream, and stores the result locally. A failure of one store
 * does not affect callers that the other store can serve.
 */
export const readThrough =
  (options: ReadThroughOptions) =>
  (local: BlobStore): BlobStore => {
    const { upstream, asking, writeThrough } = options
    const reading = sharedReads(local, options)
    return {
      missing(list, absent) {
        const answered = local.missing(list, absent)
        const goOn = () => missingThere(list, absent, options)
        return answered === undefined ? goOn() : answered.then(goOn)
      },
      find: (fn, hash) => local.find(fn, hash),
      readMany(list, into) {
        const absent: number[] = []
        const sink: BlobSink = {
          found: (index, bytes) => into.found(index, bytes),
          absent: (index) => absent.push(index),
        }
        const answered = local.readMany(list, sink)
        const goOn = () => (absent.length === 0 ? undefined : reading(list, absent, into))
        return answered === undefined ? goOn() : answered.then(goOn)
      },
      read: downloads(local, options),
      async writeMany(list, blobs) {
        const there = writeThrough ? asking.attempt('store blobs', () => upstream.writeMany(list, blobs)) : undefined
        await Promise.all([local.writeMany(list, blobs), there])
      },
      write: (digest, form) =>
        writeThrough
          ? bothWriter(local.write(digest, form), { there: () => upstream.write(digest, form), asking })
          : local.write(digest, form),
    }
  }

/** Asks the upstream for the blobs that are absent locally. Sends no request when no blob is absent. */
function missingThere(
  list: DigestList,
  absent: Uint8Array,
  { upstream, asking }: ReadThroughOptions,
): void | Promise<void> {
  const indexes: number[] = []
  for (let index = 0; index < list.count; index++) if (absent[index] === 1) indexes.push(index)
  if (indexes.length === 0) return
  const there = new Uint8Array(indexes.length)
  const question = async (): Promise<void> => {
    await upstream.missing(pickAt(list, indexes), there)
    for (const [place, index] of indexes.entries()) absent[index] = there[place] as number
  }
  return asking.ask('find missing blobs', question, undefined)
}

function downloads(local: BlobStore, { upstream, asking, events, clock }: ReadThroughOptions): BlobStore['read'] {
  const fills = new Map<string, Fill>()

  const fillOf = (digest: Digest, acceptZstd: boolean): Fill | undefined => {
    const key = `${digest.fn}/${formatDigest(digest)}/${acceptZstd}`
    const known = fills.get(key)
    if (known?.isJoinable === true) return known
    if (known !== undefined || fills.size >= MOST_FILLS) return undefined
    const fill = new Fill({
      digest,
      local,
      clock,
      open: (signal) => upstream.read(digest, { offset: 0, ...(acceptZstd && { acceptZstd }) }, signal),
      openRest: (offset, signal) => upstream.read(digest, { offset }, signal),
      notKept: events.notKept,
      brokeOff: (error) => asking.failed('read a blob', error),
    })
    fills.set(key, fill)
    void fill.over.then(() => fills.delete(key))
    return fill
  }

  const joined = async (fill: Fill, signal: AbortSignal | undefined): Promise<BlobReader | undefined> => {
    const { pieces, leave } = fill.join(signal)
    try {
      const form = await unlessAborted(fill.opened, signal)
      if (form !== undefined) return { form, pieces }
      leave()
      return undefined
    } catch (error) {
      leave()
      throw error
    }
  }

  return async (digest, range, signal) => {
    const held = await local.read(digest, range, signal)
    if (held !== undefined) return held
    // A part of a blob can be neither verified nor stored: it is passed on as received.
    const fill = isWhole(digest, range) ? fillOf(digest, range.acceptZstd === true) : undefined
    const question = () => (fill === undefined ? upstream.read(digest, range, signal) : joined(fill, signal))
    return await asking.ask('read a blob', question, undefined)
  }
}

const isWhole = ({ size }: Digest, { offset, limit }: ReadRange): boolean =>
  offset === 0 && (limit === undefined || limit >= size)
