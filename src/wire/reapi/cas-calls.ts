import { DIGEST_FUNCTIONS, type Digest, type DigestFunction } from '../../base/digest.ts'
import { digestListOf } from '../../base/digest-list.ts'
import { parseDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import type { Compressor } from '../../model/compressor.ts'
import { readRequest, writeRequest } from '../calls/byte-stream.ts'
import {
  type BlobAnswer,
  readBatchReadResponse,
  readBatchUpdateResponse,
  readFindMissingResponse,
} from '../calls/content-answers.ts'
import { batchReadRequest, batchUpdateRequest, findMissingRequest } from '../calls/content-requests.ts'
import { digestToProto } from '../digests/digest.ts'
import { SpliceBlobRequest } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { MessageReader } from '../messages/message-reader.ts'

/** The calls of ContentAddressableStorage with model types, for clients that handle one digest at a time. */
export interface CasScope {
  readonly instance: string
  readonly fn: DigestFunction
}

export const findMissingToProto = ({ instance, fn }: CasScope, digests: readonly Digest[]): Uint8Array =>
  findMissingRequest(instance, digestListOf(fn, digests))

export const missingFromProto = (bytes: Uint8Array, fn: DigestFunction): Digest[] =>
  [...readFindMissingResponse(bytes)].map((key) => parseDigest(key, fn))

/** FASTCDC of ChunkingFunction. */
const FAST_CDC = 1

export interface Splice {
  readonly blobDigest: Digest
  /** In the order in which they make up the blob, as FastCDC cuts it. */
  readonly chunks: readonly Digest[]
}

export const spliceToProto = ({ instance, fn }: CasScope, { blobDigest, chunks }: Splice): Uint8Array =>
  SpliceBlobRequest.encode({
    instanceName: instance,
    blobDigest: digestToProto(blobDigest),
    chunkDigests: chunks.map(digestToProto),
    digestFunction: DIGEST_FUNCTIONS[fn].number,
    chunkingFunction: FAST_CDC,
  }).finish()

/** A blob as it is sent: its bytes are compressed with the compressor. */
export interface PackedBlob {
  readonly digest: Digest
  readonly data: Uint8Array
  readonly compressor: Compressor
}

export function batchUpdateToProto({ instance, fn }: CasScope, blobs: readonly PackedBlob[]): Uint8Array {
  const digests = digestListOf(
    fn,
    blobs.map(({ digest }) => digest),
  )
  const outgoing = blobs.map(({ data, compressor }) => ({ bytes: data, compressor }))
  return batchUpdateRequest(instance, digests, outgoing)
}

/** The status of one blob of a batch; code 0 is OK. */
export interface BlobOutcome {
  readonly digest: Digest
  readonly code: number
  readonly message: string
}

export const batchUpdatedFromProto = (bytes: Uint8Array, fn: DigestFunction): BlobOutcome[] =>
  readBatchUpdateResponse(bytes).map((answer) => outcome(answer, fn))

export const batchReadToProto = ({ instance, fn }: CasScope, digests: readonly Digest[]): Uint8Array =>
  batchReadRequest(instance, digestListOf(fn, digests))

/** The data are views into the message. */
export const batchReadFromProto = (bytes: Uint8Array, fn: DigestFunction): (BlobOutcome & { data: Uint8Array })[] =>
  readBatchReadResponse(bytes).map((answer) => {
    if (answer.compressor !== 0) throw invalid('the server compressed a blob although no compression was requested')
    return { ...outcome(answer, fn), data: answer.data }
  })

const outcome = ({ key, status }: BlobAnswer, fn: DigestFunction): BlobOutcome => ({
  digest: parseDigest(key, fn),
  code: status.code,
  message: status.message,
})

export const readToProto = (resourceName: string): Uint8Array => readRequest({ resourceName, offset: 0, limit: 0 })

export interface WritePiece {
  /** In the first piece only. */
  readonly resourceName: string
  readonly offset: number
  readonly isLast: boolean
  readonly data: Uint8Array
}

export const writeToProto = ({ isLast, ...piece }: WritePiece): Uint8Array =>
  Buffer.concat(writeRequest({ ...piece, finish: isLast }))

/** Returns the directory messages of a Tree as views into it. A child is identified by the digest of its bytes. */
export function treeDirectories(tree: Uint8Array): { root: Uint8Array; children: Uint8Array[] } {
  const reader = new MessageReader(tree, 'Tree')
  let root: Uint8Array | undefined
  const children: Uint8Array[] = []
  while (reader.next()) {
    if (reader.field === 1) root = reader.view()
    else if (reader.field === 2) children.push(reader.view())
    else reader.skip()
  }
  if (root === undefined) throw invalid('a tree has no root')
  return { root, children }
}
