import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'
import { GrpcError, STATUS } from '../../grpc/status.ts'
import type { CacheCapabilities } from '../../model/capabilities.ts'
import type { PackedBlob } from '../../wire/reapi/cas-calls.ts'
import { BlobRefused, type CasClient } from './cas-client.ts'
import { isWorthChunks, sendChunks } from './chunked-upload.ts'
import { concurrencyLimit } from './concurrency-limit.ts'
import type { LocalBlob } from './local-blob.ts'
import type { TransferMeter } from './transfer-meter.ts'

/** Blobs that are asked about in one call. */
const GROUP_BLOBS = 500
/** Most servers and proxies take 4 MiB in one message; the digests count too. */
const BATCH_BYTES = 3 * 1024 * 1024
const ENTRY_BYTES = 200
/** Larger ones are streams of their own. */
const SMALL_BYTES = 512 * 1024
const GROUPS_AT_ONCE = 3
const STREAMS_AT_ONCE = 4
/** Digests that are known to be taken care of; forgotten when there are too many, for they only save a question. */
const KNOWN_BLOBS = 100_000

export interface UploadOptions {
  readonly client: CasClient
  readonly meter: TransferMeter
  readonly compress: boolean
  /** Send large files in chunks where the server puts them together; a file is then not kept packed there. */
  readonly inChunks?: boolean
}

/** Sends what the server does not hold. Contents are read when it is their turn, so memory does not grow with them. */
export interface Uploader {
  /** Resolves when more may be added. */
  add(blob: LocalBlob): Promise<void>
  /** Resolves when the server holds everything that was added. */
  finish(): Promise<void>
}

export function uploader(options: UploadOptions): Uploader {
  const { client, meter } = options
  const groups = concurrencyLimit(GROUPS_AT_ONCE)
  const streams = concurrencyLimit(STREAMS_AT_ONCE)
  const known = new Set<string>()
  let group: LocalBlob[] = []

  const sendGroup = (blobs: readonly LocalBlob[]) => async () => {
    const missing = await client.missing(blobs.map(({ digest }) => digest))
    const absent = blobs.filter(({ digest }) => missing.has(formatDigest(digest)))
    meter.held(blobs.length - absent.length, bytesOf(blobs) - bytesOf(absent))
    if (absent.length === 0) return
    const offer = await client.offer()
    const { batches, large } = sorted(absent, Math.min(BATCH_BYTES, offer.maxBatchBytes || BATCH_BYTES))
    for (const blob of large) await streams.start(() => sendStream(blob, offer, options))
    for (const batch of batches) await sendBatch(batch, offer, options)
  }

  const sendOff = async (): Promise<void> => {
    if (group.length === 0) return
    const blobs = group
    group = []
    await groups.start(sendGroup(blobs))
  }

  return {
    async add(blob) {
      const { size } = blob.digest
      if (size === 0) return // every server has the empty blob
      const key = formatDigest(blob.digest)
      meter.found(1, size)
      if (known.has(key)) return meter.held(1, size)
      if (known.size >= KNOWN_BLOBS) known.clear()
      known.add(key)
      group.push(blob)
      if (group.length >= GROUP_BLOBS) await sendOff()
    },
    async finish() {
      await sendOff()
      await groups.done()
      await streams.done()
    },
  }
}

async function sendStream(blob: LocalBlob, offer: CacheCapabilities, options: UploadOptions) {
  const { client, meter, compress } = options
  if (options.inChunks === true && offer.fastCdc !== undefined && isWorthChunks(blob, offer)) {
    const isPacking = compress && offer.batchUpdateCompressors.includes('zstd')
    const pack = (digest: Digest, data: Uint8Array) => packedBytes(digest, data, isPacking)
    if (await sendChunks(blob, offer.fastCdc, { client, meter, pack }).catch(naming([blob]))) return
  }
  let sent = 0
  const heard = async function* () {
    for await (const piece of blob.pieces()) {
      yield piece
      sent += piece.length
      meter.moved(0, piece.length)
    }
  }
  const isPacked = compress && offer.compressors.includes('zstd')
  await client.write(blob.digest, heard(), isPacked ? 'zstd' : 'identity').catch(naming([blob]))
  meter.moved(1, 0)
  meter.held(0, blob.digest.size - sent) // another client has uploaded it meanwhile, and the server did not need the rest
}

async function sendBatch(
  blobs: readonly LocalBlob[],
  offer: CacheCapabilities,
  { client, meter, compress }: UploadOptions,
): Promise<void> {
  const isPacked = compress && offer.batchUpdateCompressors.includes('zstd')
  const packed: PackedBlob[] = []
  for (const blob of blobs) packed.push(await packedBlob(blob, isPacked))
  await client.updateMany(packed).catch(naming(blobs))
  meter.moved(blobs.length, bytesOf(blobs))
}

const bytesOf = (blobs: readonly LocalBlob[]): number => blobs.reduce((sum, { digest }) => sum + digest.size, 0)

/** Divides blobs into batches of one message each and large ones that are sent alone. */
function sorted(blobs: readonly LocalBlob[], mostBytes: number) {
  const batches: LocalBlob[][] = []
  const large: LocalBlob[] = []
  let batch: LocalBlob[] = []
  let bytes = 0
  for (const blob of blobs) {
    const cost = blob.digest.size + ENTRY_BYTES
    if (blob.digest.size > SMALL_BYTES || cost > mostBytes) {
      large.push(blob)
      continue
    }
    if (bytes + cost > mostBytes && batch.length > 0) {
      batches.push(batch)
      batch = []
      bytes = 0
    }
    batch.push(blob)
    bytes += cost
  }
  if (batch.length > 0) batches.push(batch)
  return { batches, large }
}

const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

async function packedBlob(blob: LocalBlob, isPacked: boolean): Promise<PackedBlob> {
  return packedBytes(blob.digest, await blob.whole(), isPacked)
}

async function packedBytes(digest: Digest, data: Uint8Array, isPacked: boolean): Promise<PackedBlob> {
  if (!isPacked) return { digest, data, compressor: 'identity' }
  const packed = await promisify(zstdCompress)(data, FAST)
  return packed.length < data.length
    ? { digest, data: packed, compressor: 'zstd' }
    : { digest, data, compressor: 'identity' }
}

/** Errors name files by path, not by digest. */
const naming =
  (blobs: readonly LocalBlob[]) =>
  (error: unknown): never => {
    const isMismatch = error instanceof GrpcError && error.code === STATUS.invalidArgument && blobs.length === 1
    if (!(error instanceof BlobRefused) && !isMismatch) throw error
    const key = error instanceof BlobRefused ? formatDigest(error.digest) : undefined
    const blob = blobs.find(({ digest }) => key === undefined || formatDigest(digest) === key)
    const hint = isMismatch ? ' (did the file change while it was read?)' : ''
    throw new FaultError({ kind: 'unavailable', what: `${blob?.name ?? key}: ${error.message}${hint}` }, error)
  }
