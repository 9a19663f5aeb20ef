import { fastCdc } from '../../base/chunking/fast-cdc.ts'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { GrpcError, STATUS } from '../../grpc/status.ts'
import type { CacheCapabilities, FastCdcParams } from '../../model/capabilities.ts'
import type { PackedBlob } from '../../wire/reapi/cas-calls.ts'
import type { CasClient } from './cas-client.ts'
import type { LocalBlob } from './local-blob.ts'
import type { TransferMeter } from './transfer-meter.ts'

/** A file of fewer chunks of the average size is sent whole: chunking would save too little. */
const LEAST_CHUNKS = 8
const BATCH_BYTES = 3 * 1024 * 1024
const ENTRY_BYTES = 200

export interface ChunkedOptions {
  readonly client: CasClient
  readonly meter: TransferMeter
  readonly pack: (digest: Digest, data: Uint8Array) => Promise<PackedBlob>
}

/** Whether the server puts blobs together from chunks, and this one is worth it. */
export const isWorthChunks = ({ digest }: LocalBlob, { spliceBlob, fastCdc: params }: CacheCapabilities): boolean =>
  spliceBlob && params !== undefined && digest.size >= LEAST_CHUNKS * params.averageChunkBytes

/**
 * Sends a large blob as the chunks that the server lacks, and has the server put it together (SpliceBlob). Content
 * decides where chunks end, so a file that changed in one place has most of its chunks in common with what was sent
 * before. Returns false when the server lost a chunk meanwhile: the blob must then be sent whole.
 */
export async function sendChunks(
  blob: LocalBlob,
  params: FastCdcParams,
  { client, meter, pack }: ChunkedOptions,
): Promise<boolean> {
  const chunks: Digest[] = []
  for await (const chunk of chunksOf(blob, params)) chunks.push(digestOf(client.fn, chunk))
  const missing = await client.missing([...new Map(chunks.map((digest) => [formatDigest(digest), digest])).values()])
  let batch: PackedBlob[] = []
  let bytes = 0
  let sent = 0
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await client.updateMany(batch)
    batch = []
    bytes = 0
  }
  let index = 0
  for await (const chunk of chunksOf(blob, params)) {
    const digest = chunks[index++] as Digest
    if (!missing.delete(formatDigest(digest))) continue
    if (bytes + chunk.length + ENTRY_BYTES > BATCH_BYTES) await flush()
    batch.push(await pack(digest, chunk))
    bytes += chunk.length + ENTRY_BYTES
    sent += chunk.length
    meter.moved(0, chunk.length)
  }
  await flush()
  try {
    await client.splice(blob.digest, chunks)
  } catch (error) {
    if (error instanceof GrpcError && error.code === STATUS.notFound) return false
    throw error
  }
  meter.moved(1, 0)
  meter.held(0, blob.digest.size - sent)
  return true
}

/** Each in memory of its own; one at a time. */
async function* chunksOf(
  blob: LocalBlob,
  { averageChunkBytes, seed }: FastCdcParams,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const chunker = fastCdc({ averageBytes: averageChunkBytes, seed })()
  let open = Buffer.alloc(0)
  let start = 0
  const upTo = (end: number): Uint8Array<ArrayBuffer> => {
    const chunk = Uint8Array.from(open.subarray(0, end - start))
    open = open.subarray(end - start)
    start = end
    return chunk
  }
  for await (const piece of blob.pieces()) {
    open = Buffer.concat([open, piece])
    for (const end of chunker.push(piece)) yield upTo(end)
  }
  for (const end of chunker.finish()) yield upTo(end)
}
