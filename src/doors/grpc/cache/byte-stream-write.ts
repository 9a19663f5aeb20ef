import type { Digest } from '../../../base/digest.ts'
import { digestListOf } from '../../../base/digest-list.ts'
import { invalid } from '../../../base/fault.ts'
import type { ClientStreamingMethod, Incoming, UnaryMethod } from '../../../grpc/service.ts'
import type { ReapiLimits } from '../../../services/instances/cache-limits.ts'
import type { Instance, Instances } from '../../../services/instances/instances.ts'
import { areHeld } from '../../../storage/read-blobs.ts'
import {
  queryWriteStatusResponse,
  readQueryWriteStatusRequest,
  readWriteRequest,
  type WriteRequest,
  writeResponse,
} from '../../../wire/hot/byte-stream.ts'
import { parseWriteName, type UploadName } from '../../../wire/reapi/resource-name.ts'
import type { LogStreams } from '../logs/door.ts'
import { checkResourceNameHeader } from './resource-name-header.ts'
import { type BlobUpload, beginUpload, type PausedUploads } from './uploads.ts'

export interface WriteTools {
  readonly instances: Instances
  readonly paused: PausedUploads
  readonly limits: ReapiLimits
  /** Undefined when the server has no logs. */
  readonly logs?: Pick<LogStreams, 'nameOf' | 'write' | 'written'> | undefined
}

/** Committed size of a compressed upload whose blob already exists: the number of bytes read is unknown. */
const UNTOLD = -1

export const byteStreamWrite = (tools: WriteTools): ClientStreamingMethod => ({
  kind: 'clientStreaming',
  keepsNothing: true,
  async handle(requests, call) {
    const first = await nextOf(requests)
    if (first === undefined) throw invalid('the upload ended without any message')
    checkResourceNameHeader(call, first.resourceName)
    const log = tools.logs?.nameOf(first.resourceName)
    if (log !== undefined) return writeResponse((await tools.logs?.write(log, first, requests)) ?? 0)
    const name = parseWriteName(first.resourceName, (instance) => tools.instances(instance).unnamedFunction)
    const instance = tools.instances(name.instance)
    const { digest, compressor } = name
    if (digest.size > tools.limits.maxBlobBytes) {
      throw invalid(`a blob of ${digest.size} bytes is larger than the limit of ${tools.limits.maxBlobBytes}`)
    }
    // The client gets the response at once, in the middle of its upload. The server does not read the rest.
    if (await isHeld(instance, digest)) return writeResponse(compressor === 'identity' ? digest.size : UNTOLD)
    const upload = resumed(tools, instance, { name, first })
    return writeResponse(await receive(requests, first, { upload, name, paused: tools.paused }))
  },
})

function resumed({ paused }: WriteTools, instance: Instance, { name, first }: Opening): BlobUpload {
  if (first.offset === 0) {
    paused.take(first.resourceName)?.abort()
    return beginUpload(instance, name)
  }
  const upload = paused.take(first.resourceName)
  if (upload === undefined) throw invalid(`write_offset is ${first.offset}, but nothing has been written`)
  return upload
}

interface Opening {
  readonly name: UploadName
  readonly first: WriteRequest
}

interface Receiving {
  readonly upload: BlobUpload
  readonly name: UploadName
  readonly paused: PausedUploads
}

/** Receives the whole upload. An interrupted upload is kept, so that the client can resume it. */
async function receive(requests: Incoming, first: WriteRequest, { upload, name, paused }: Receiving): Promise<number> {
  let isOver = false
  try {
    for (let request: WriteRequest | undefined = first; ; request = await nextOf(requests)) {
      if (request === undefined) throw invalid('the upload ended without finish_write')
      checkRequest(request, first, upload)
      // Set until the bytes are written: a client cannot resume after a failed write or after excess bytes.
      isOver = true
      if (name.compressor === 'identity' && upload.committed + request.data.length > name.digest.size) {
        throw invalid(`the upload is longer than the ${name.digest.size} bytes of its digest`)
      }
      if (request.data.length > 0) await upload.write(request.data)
      if (request.finish) {
        await upload.finish()
        return upload.committed
      }
      isOver = false
    }
  } finally {
    // The offset of an interrupted compressed upload is not an offset of the blob: it starts again.
    if (isOver || name.compressor !== 'identity') upload.abort()
    else paused.keep(first.resourceName, upload)
  }
}

function checkRequest({ resourceName, offset }: WriteRequest, first: WriteRequest, { committed }: BlobUpload): void {
  if (resourceName !== '' && resourceName !== first.resourceName)
    throw invalid('the resource name differs from that of the first message')
  if (offset !== committed) throw invalid(`write_offset is ${offset}, but ${committed} bytes have been written`)
}

export const queryWriteStatus = ({ instances, paused, logs }: WriteTools): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes, call) {
    const resourceName = readQueryWriteStatusRequest(bytes)
    checkResourceNameHeader(call, resourceName)
    const log = logs?.nameOf(resourceName)
    const written = log && logs?.written(log)
    if (written !== undefined) return queryWriteStatusResponse(written.committed, written.isComplete)
    const { instance, digest } = parseWriteName(resourceName, (name) => instances(name).unnamedFunction)
    if (await isHeld(instances(instance), digest)) return queryWriteStatusResponse(digest.size, true)
    // An unknown upload has 0 committed bytes: NOT_FOUND would make clients give up.
    return queryWriteStatusResponse(paused.committed(resourceName), false)
  },
})

const isHeld = ({ blobs }: Instance, digest: Digest): boolean | Promise<boolean> =>
  areHeld(digestListOf(digest.fn, [digest]), blobs)

async function nextOf(requests: Incoming): Promise<WriteRequest | undefined> {
  const bytes = await requests.next()
  return bytes === undefined ? undefined : readWriteRequest(bytes)
}
