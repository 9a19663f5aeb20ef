import type { NewChunker } from '../../../base/chunking/chunker.ts'
import { fastCdc } from '../../../base/chunking/fast-cdc.ts'
import { repMaxCdc } from '../../../base/chunking/rep-max-cdc.ts'
import type { Digest, DigestList } from '../../../base/digest.ts'
import { DigestListBuilder, digestAt } from '../../../base/digest-list.ts'
import { FaultError, invalid } from '../../../base/fault.ts'
import { createHasher } from '../../../base/hashing/create-hasher.ts'
import type { UnaryMethod } from '../../../grpc/service.ts'
import type { Instance, Instances } from '../../../services/instances/instances.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { areHeld } from '../../../storage/read-blobs.ts'
import {
  readSpliceBlobRequest,
  readSplitBlobRequest,
  type SpliceBlobRequest,
  spliceBlobResponse,
  splitBlobResponse,
} from '../../../wire/hot/split-splice.ts'
import { remakingForRoom } from '../make-room.ts'

/**
 * Large blobs as chunks that several blobs share: a client downloads only the chunks that it lacks, and uploads only
 * those that the server lacks. Chunks are ordinary blobs. A layout is cheap to compute again, so it is cached only
 * while there is space.
 */
const KiB = 1024
export const FAST_CDC = { averageChunkBytes: 512 * KiB, seed: 0 }
export const REP_MAX_CDC = { minChunkBytes: 256 * KiB, horizonBytes: 8 * 256 * KiB }

/** The numbers of ChunkingFunction. */
const BY_NUMBER: Readonly<Record<number, () => NewChunker>> = {
  1: () => fastCdc({ averageBytes: FAST_CDC.averageChunkBytes, seed: FAST_CDC.seed }),
  2: () => repMaxCdc({ minBytes: REP_MAX_CDC.minChunkBytes, horizonBytes: REP_MAX_CDC.horizonBytes }),
}
const USUAL = 1
const REMEMBERED_LAYOUTS = 10_000

type Layouts = Map<string, DigestList>

export function splitAndSplice(instances: Instances): { SplitBlob: UnaryMethod; SpliceBlob: UnaryMethod } {
  const layouts: Layouts = new Map()
  const unnamed = (name: string) => instances(name).unnamedFunction
  return {
    SplitBlob: remakingForRoom({
      kind: 'unary',
      async handle(bytes) {
        const { instance, blobDigest, chunking } = readSplitBlobRequest(bytes, unnamed)
        // The function is a preference: for an unknown one, the default is used.
        const chosen = BY_NUMBER[chunking] === undefined ? USUAL : chunking
        return splitBlobResponse(await split(instances(instance), blobDigest, { chosen, layouts }), chosen)
      },
    }),
    SpliceBlob: {
      kind: 'unary',
      async handle(bytes) {
        const request = readSpliceBlobRequest(bytes, unnamed)
        await splice(instances(request.instance), request)
        return spliceBlobResponse(request.blobDigest)
      },
    },
  }
}

async function split(
  { blobs }: Instance,
  digest: Digest,
  { chosen, layouts }: { chosen: number; layouts: Layouts },
): Promise<DigestList> {
  const key = `${chosen}/${digest.fn}/${digest.hash}/${digest.size}`
  const known = layouts.get(key)
  if (known !== undefined && (await areHeld(known, blobs))) return known
  const reader = await blobs.read(digest, { offset: 0 })
  if (reader === undefined) throw new FaultError({ kind: 'absent', what: `no blob ${digest.hash}/${digest.size}` })
  const chunks = await cut(reader.pieces, digest, { blobs, chunker: (BY_NUMBER[chosen] as () => NewChunker)()() })
  const [oldest] = layouts.keys()
  if (layouts.size >= REMEMBERED_LAYOUTS && oldest !== undefined) layouts.delete(oldest)
  layouts.set(key, chunks)
  return chunks
}

/** Cuts a blob while it is streamed, and stores each complete chunk; memory holds one chunk. */
async function cut(
  pieces: AsyncIterable<Uint8Array>,
  { fn }: Digest,
  { blobs, chunker }: { blobs: BlobStore; chunker: ReturnType<NewChunker> },
): Promise<DigestList> {
  const chunks = new DigestListBuilder(fn)
  const hasher = createHasher(fn)
  let open: Uint8Array = new Uint8Array(0)
  let start = 0
  const close = async (end: number): Promise<void> => {
    const chunk = open.subarray(0, end - start)
    hasher.update(chunk)
    const one = new DigestListBuilder(fn, 1)
    const hash = hasher.digest()
    one.addRaw(hash, 0, chunk.length)
    chunks.addRaw(hash, 0, chunk.length)
    await blobs.writeMany(one.build(), [chunk])
    open = open.subarray(end - start)
    start = end
  }
  for await (const piece of pieces) {
    open = Buffer.concat([open, piece])
    for (const end of chunker.push(piece)) await close(end)
  }
  for (const end of chunker.finish()) await close(end)
  return chunks.build()
}

async function splice({ blobs, uploads }: Instance, { blobDigest, chunks }: SpliceBlobRequest): Promise<void> {
  let total = 0
  for (let index = 0; index < chunks.count; index++) total += chunks.sizes[index] as number
  if (total !== blobDigest.size) throw invalid(`the chunks have ${total} bytes together, the blob ${blobDigest.size}`)
  const writer = uploads.write(blobDigest, 'identity')
  try {
    for (let index = 0; index < chunks.count; index++) {
      const digest = digestAt(chunks, index)
      const chunk = await blobs.read(digest, { offset: 0 })
      if (chunk === undefined) throw new FaultError({ kind: 'absent', what: `no chunk ${digest.hash}/${digest.size}` })
      for await (const piece of chunk.pieces) await writer.write(piece)
    }
    await writer.commit()
  } finally {
    writer.abort()
  }
}
