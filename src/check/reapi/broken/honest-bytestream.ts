import type { ServerCall } from '../../../grpc/service.ts'
import { GrpcError, STATUS } from '../../../grpc/status.ts'
import type { WriteRequest, WriteResponse } from '../../../wire/gen/google/bytestream/bytestream.ts'
import { decompressed } from './honest-cas.ts'
import type { Methods } from './methods.ts'
import { MAX_BLOB_BYTES } from './profile.ts'
import { downloadOf, type ResourceName, uploadOf } from './resource-name.ts'
import { invalidArgument, notFound, type Store } from './store.ts'

type ByteStreamMethods = Pick<Methods, 'read' | 'write' | 'queryWriteStatus'>

const PIECE_BYTES = 256 * 1024
const HEADER = 'build.bazel.remote.execution.v2.resource-name'

function headerMatches(name: string, { metadata }: ServerCall): void {
  const header = metadata.get(HEADER)
  if (header !== undefined && header !== name) throw invalidArgument(`the header names ${header}`)
}

function cut(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) pieces.push(bytes.subarray(at, at + PIECE_BYTES))
  return pieces
}

export function honestByteStream(store: Store): ByteStreamMethods {
  /** The bytes of interrupted uploads, by resource name. */
  const partials = new Map<string, Uint8Array>()
  return {
    read({ resourceName, readOffset, readLimit }, call) {
      headerMatches(resourceName, call)
      const { key, compressor } = downloadOf(resourceName)
      if (readOffset < 0 || readLimit < 0) throw invalidArgument('negative')
      if (compressor !== undefined && readLimit !== 0) throw invalidArgument('a limit in a compressed read')
      const bytes = store.get(key)
      if (bytes === undefined) throw notFound(key.text)
      if (readOffset > bytes.length) throw new GrpcError(STATUS.outOfRange, `${readOffset} is past the end`)
      const part = bytes.subarray(readOffset, readLimit === 0 ? undefined : readOffset + readLimit)
      return cut(compressor === undefined ? part : compressor.compress(part))
    },
    write: (requests, call) => receive({ store, partials, call }, requests),
    queryWriteStatus({ resourceName }) {
      const { key } = uploadOf(resourceName)
      if (store.has(key)) return { committedSize: key.digest.sizeBytes, complete: true }
      return { committedSize: partials.get(resourceName)?.length ?? 0, complete: false }
    },
  }
}

interface Receiving {
  readonly store: Store
  readonly partials: Map<string, Uint8Array>
  readonly call: ServerCall
}

interface Opened extends ResourceName {
  readonly name: string
}

async function receive({ store, partials, call }: Receiving, requests: AsyncIterable<WriteRequest>) {
  let upload: Opened | undefined
  let bytes: Uint8Array = new Uint8Array()
  for await (const request of requests) {
    if (upload === undefined) {
      upload = opened(request, call)
      bytes = partials.get(upload.name) ?? bytes
    }
    if (store.has(upload.key)) return existing(upload)
    follows(request, upload, bytes.length)
    bytes = Buffer.concat([bytes, request.data])
    if (!request.finishWrite) continue
    store.put(upload.key, upload.compressor === undefined ? bytes : decompressed(upload.compressor, bytes))
    partials.delete(upload.name)
    return { committedSize: bytes.length }
  }
  if (upload !== undefined && upload.compressor === undefined) partials.set(upload.name, bytes)
  throw invalidArgument('the stream ended without finish_write')
}

function opened({ resourceName }: WriteRequest, call: ServerCall): Opened {
  headerMatches(resourceName, call)
  const upload = uploadOf(resourceName)
  if (upload.key.digest.sizeBytes > MAX_BLOB_BYTES) throw invalidArgument('too large')
  return { ...upload, name: resourceName }
}

function follows({ resourceName, writeOffset, data }: WriteRequest, upload: Opened, committed: number): void {
  if (resourceName !== '' && resourceName !== upload.name) throw invalidArgument('another name')
  if (writeOffset !== committed) throw invalidArgument(`offset ${writeOffset} instead of ${committed}`)
  const isLonger = committed + data.length > upload.key.digest.sizeBytes
  if (upload.compressor === undefined && isLonger) throw invalidArgument('too long')
}

const existing = ({ key, compressor }: ResourceName): WriteResponse => ({
  committedSize: compressor === undefined ? key.digest.sizeBytes : -1,
})
