import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import type { CasClient } from '../cas/cas-client.ts'
import { absentBlob, blobPieces } from '../cas/cas-read.ts'
import { concurrencyLimit } from '../cas/concurrency-limit.ts'
import type { TransferMeter } from '../cas/transfer-meter.ts'
import { mustBe } from '../cas/verified.ts'

const BATCH_BYTES = 2 * 1024 * 1024
const BATCH_FILES = 500
const ENTRY_BYTES = 200
const SMALL_BYTES = 256 * 1024
const BATCHES_AT_ONCE = 3
const STREAMS_AT_ONCE = 4
const WRITES_AT_ONCE = 8

/** A file to write, and the digest of its content. */
export interface FileDownload {
  readonly digest: Digest
  /** Gets the blob's bytes; when they turn out to be others, the iteration throws. */
  write(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void>
}

/** Fills files with blobs: small ones by the batch, large ones as streams, several at once. */
export interface FileDownloads {
  /** Resolves when more may be added. */
  add(order: FileDownload): Promise<void>
  finish(): Promise<void>
}

export function fileDownloads(client: CasClient, meter: TransferMeter): FileDownloads {
  const batches = concurrencyLimit(BATCHES_AT_ONCE)
  const streams = concurrencyLimit(STREAMS_AT_ONCE)
  let mostBytes: number | undefined
  let orders: FileDownload[] = []
  let bytes = 0

  const fill = (some: readonly FileDownload[]) => async () => {
    const byName = new Map(some.map(({ digest }) => [formatDigest(digest), digest]))
    const found = await client.readMany([...byName.values()])
    const writes = concurrencyLimit(WRITES_AT_ONCE)
    for (const { digest, write } of some) {
      const blob = found.get(formatDigest(digest))
      if (blob === undefined) throw absentBlob(digest)
      mustBe(digest, blob)
      await writes.start(async () => {
        await write([blob])
        meter.moved(1, digest.size)
      })
    }
    await writes.done()
  }

  const sendOff = async (): Promise<void> => {
    if (orders.length === 0) return
    const some = orders
    orders = []
    bytes = 0
    await batches.start(fill(some))
  }

  return {
    async add(order) {
      const { digest } = order
      meter.found(1, digest.size)
      mostBytes ??= Math.min(BATCH_BYTES, (await client.offer()).maxBatchBytes || BATCH_BYTES)
      if (digest.size === 0 || digest.size > SMALL_BYTES || digest.size > mostBytes) {
        await streams.start(() => order.write(blobPieces(client, digest, meter)))
        return
      }
      const cost = digest.size + ENTRY_BYTES
      if (orders.length >= BATCH_FILES || bytes + cost > mostBytes) await sendOff()
      orders.push(order)
      bytes += cost
    },
    async finish() {
      await sendOff()
      await batches.done()
      await streams.done()
    },
  }
}
