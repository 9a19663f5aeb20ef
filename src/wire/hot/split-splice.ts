import type { Digest, DigestList } from '../../base/digest.ts'
import { digestToProto, sha256Unnamed, type UnnamedFunction } from '../digests/digest.ts'
import { SpliceBlobResponse } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { fieldLength, putHead } from '../messages/message-writer.ts'
import { DigestListReader, PendingDigest } from './digest-reader.ts'
import { digestLength, putDigest } from './digest-writer.ts'

/** SplitBlob and SpliceBlob: a large blob as a list of chunks. */
export interface SplitBlobRequest {
  readonly instance: string
  readonly blobDigest: Digest
  /** A ChunkingFunction.Value; with 0 the server chooses. */
  readonly chunking: number
}

export function readSplitBlobRequest(bytes: Uint8Array, unnamed: UnnamedFunction = sha256Unnamed): SplitBlobRequest {
  const { instance, blobDigest, chunking } = readBlobAndChunks(bytes, SPLIT, unnamed)
  return { instance, blobDigest, chunking }
}

export interface SpliceBlobRequest extends SplitBlobRequest {
  /** In the order in which they make up the blob. */
  readonly chunks: DigestList
}

export const readSpliceBlobRequest = (bytes: Uint8Array, unnamed: UnnamedFunction = sha256Unnamed): SpliceBlobRequest =>
  readBlobAndChunks(bytes, SPLICE, unnamed)

const SPLIT = { name: 'SplitBlobRequest', chunks: -1, fn: 3, chunking: 4 } as const
const SPLICE = { name: 'SpliceBlobRequest', chunks: 3, fn: 4, chunking: 5 } as const

function readBlobAndChunks(
  bytes: Uint8Array,
  fields: typeof SPLIT | typeof SPLICE,
  unnamed: UnnamedFunction,
): SpliceBlobRequest {
  const reader = new MessageReader(bytes, fields.name)
  const blob = new PendingDigest()
  const chunk = new PendingDigest()
  const builder = new DigestListReader()
  let instance = ''
  let chunking = 0
  let number = 0
  while (reader.next()) {
    if (reader.field === 1) instance = reader.instance()
    else if (reader.field === 2) blob.merge(reader)
    else if (reader.field === fields.chunks) builder.add(chunk.clear().merge(reader), reader)
    else if (reader.field === fields.fn) number = reader.int32()
    else if (reader.field === fields.chunking) chunking = reader.int32()
    else reader.skip()
  }
  const blobDigest = blob.digest(reader, number, unnamed(instance))
  return { instance, blobDigest, chunking, chunks: builder.list(blobDigest.fn) }
}

const CHUNK = 0x0a
const CHUNKING = 0x10

export function splitBlobResponse(chunks: DigestList, chunking: number): Uint8Array {
  let total = chunking === 0 ? 0 : 2
  for (let index = 0; index < chunks.count; index++) total += fieldLength(digestLength(chunks, index))
  const out = Buffer.allocUnsafe(total)
  let at = 0
  for (let index = 0; index < chunks.count; index++) {
    at = putHead(out, at, CHUNK, digestLength(chunks, index))
    at = putDigest(out, at, chunks, index)
  }
  if (chunking !== 0) out.set([CHUNKING, chunking], at)
  return out
}

export const spliceBlobResponse = (blobDigest: Digest): Uint8Array =>
  SpliceBlobResponse.encode({ blobDigest: digestToProto(blobDigest) }).finish()
