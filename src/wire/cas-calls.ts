import type { Digest, DigestFunction } from '../base/digest.ts'
import { invalid } from '../base/fault.ts'
import { COMPRESSORS, type Compressor } from '../model/compressor.ts'
import { DIGEST_SHAPE, digestFromProto, digestToProto } from './digest.ts'
import { digestFunctionNumber } from './digest-function.ts'
import * as proto from './gen/build/bazel/remote/execution/v2/remote_execution.ts'
import * as bytestream from './gen/google/bytestream/bytestream.ts'
import { MessageReader } from './hot/message-reader.ts'
import { decodeWellFormed, type Shape } from './well-formed.ts'

/** The calls of a content-addressable storage as a client makes them; `wire/hot` has the server's end of most. */
export interface CasScope {
  readonly instance: string
  readonly fn: DigestFunction
}

const inScope = ({ instance, fn }: CasScope) => ({ instanceName: instance, digestFunction: digestFunctionNumber(fn) })

export const findMissingToProto = (scope: CasScope, digests: readonly Digest[]): Uint8Array =>
  proto.FindMissingBlobsRequest.encode({ ...inScope(scope), blobDigests: digests.map(digestToProto) }).finish()

export function missingFromProto(bytes: Uint8Array, fn: DigestFunction): Digest[] {
  const named = { name: 'FindMissingBlobsResponse', shape: { 2: DIGEST_SHAPE } }
  const { missingBlobDigests } = decodeWellFormed(proto.FindMissingBlobsResponse, bytes, named)
  return missingBlobDigests.map((digest) => digestFromProto(digest, fn, 'a missing blob'))
}

/** A blob on its way: the bytes are packed as the compressor says. */
export interface PackedBlob {
  readonly digest: Digest
  readonly data: Uint8Array
  readonly compressor: Compressor
}

export const batchUpdateToProto = (scope: CasScope, blobs: readonly PackedBlob[]): Uint8Array =>
  proto.BatchUpdateBlobsRequest.encode({
    ...inScope(scope),
    requests: blobs.map(({ digest, data, compressor }) => ({
      digest: digestToProto(digest),
      data: data as Uint8Array<ArrayBuffer>,
      compressor: COMPRESSORS.indexOf(compressor) as proto.Compressor_Value,
    })),
  }).finish()

/** How one blob of a batch fared; code 0 is well. */
export interface BlobOutcome {
  readonly digest: Digest
  readonly code: number
  readonly message: string
}

export function batchUpdatedFromProto(bytes: Uint8Array, fn: DigestFunction): BlobOutcome[] {
  const named = { name: 'BatchUpdateBlobsResponse', shape: { 1: { 1: DIGEST_SHAPE, 2: STATUS } } }
  return decodeWellFormed(proto.BatchUpdateBlobsResponse, bytes, named).responses.map((answer) => outcome(answer, fn))
}

export const batchReadToProto = (scope: CasScope, digests: readonly Digest[]): Uint8Array =>
  proto.BatchReadBlobsRequest.encode({
    ...inScope(scope),
    digests: digests.map(digestToProto),
    acceptableCompressors: [],
  }).finish()

/** The data are views into the message. */
export function batchReadFromProto(bytes: Uint8Array, fn: DigestFunction): (BlobOutcome & { data: Uint8Array })[] {
  const shape = { 1: { 1: DIGEST_SHAPE, 2: 'bytes', 3: STATUS, 4: 'number' } } as const
  const { responses } = decodeWellFormed(proto.BatchReadBlobsResponse, bytes, { name: 'BatchReadBlobsResponse', shape })
  return responses.map((answer) => {
    if (answer.compressor !== 0) throw invalid('the server packed a blob, which nobody asked for')
    return { ...outcome(answer, fn), data: answer.data }
  })
}

const STATUS: Shape = { 1: 'number', 2: 'text' }

type Answer = Pick<proto.BatchUpdateBlobsResponse_Response, 'digest' | 'status'>

const outcome = ({ digest, status }: Answer, fn: DigestFunction): BlobOutcome => ({
  digest: digestFromProto(digest, fn, 'an answer'),
  code: status?.code ?? 0,
  message: status?.message ?? '',
})

export const readToProto = (resourceName: string): Uint8Array =>
  bytestream.ReadRequest.encode({ resourceName, readOffset: 0, readLimit: 0 }).finish()

/** The data, as a view into the message. */
export const readFromProto = (bytes: Uint8Array): Uint8Array =>
  decodeWellFormed(bytestream.ReadResponse, bytes, { name: 'ReadResponse', shape: { 10: 'bytes' } }).data

export interface WritePiece {
  /** In the first piece only. */
  readonly resourceName: string
  readonly offset: number
  readonly isLast: boolean
  readonly data: Uint8Array
}

export const writeToProto = ({ resourceName, offset, isLast, data }: WritePiece): Uint8Array =>
  bytestream.WriteRequest.encode({
    resourceName,
    writeOffset: offset,
    finishWrite: isLast,
    data: data as Uint8Array<ArrayBuffer>,
  }).finish()

/** The committed size. */
export const writtenFromProto = (bytes: Uint8Array): number =>
  decodeWellFormed(bytestream.WriteResponse, bytes, { name: 'WriteResponse', shape: { 1: 'number' } }).committedSize

/** The messages of the directories in a Tree, as views into it: a child is known by the digest of its bytes. */
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
