/**
 * A simple server: @grpc/grpc-js, one file per blob, all of it asynchronous. Its messages are decoded by hand
 * (fields.ts), which is in its favour: generated codecs would cost more.
 */
import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import {
  Server,
  ServerCredentials,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'
import { answerWith } from '../../child.ts'
import { all, bytesIn, fieldsOf, numberIn, readContents, readDigest, readDigests, textIn } from '../fields.ts'
import { batchReadResponse, batchUpdateResponse, type Digest, digestList, headOf, writeResponse } from '../messages.ts'
import { inParallel, type PlainStore, plainStore } from './plain-store.ts'

type Unary = (request: Buffer, store: PlainStore) => Promise<Buffer | undefined>

const findMissing: Unary = async (request, store) => {
  const digests = readDigests(request)
  const present = await inParallel(digests, store.has)
  return digestList(digests.filter((_, i) => !present[i]))
}

const batchUpdate: Unary = async (request, store) => {
  const blobs = readContents(request, 2)
  const written = await inParallel(blobs, ({ digest, data }) => store.write(digest, data))
  return written.every(Boolean) ? batchUpdateResponse(blobs.map(({ digest }) => digest)) : undefined
}

const batchRead: Unary = async (request, store) => {
  const read = async (digest: Digest) => ({ digest, data: await store.read(digest) })
  return batchReadResponse(await inParallel(readDigests(request), read))
}

const getResult: Unary = async (request, store) => {
  const result = await store.readResult(readDigest(bytesIn(fieldsOf(request), 2)))
  if (result === undefined) return undefined
  const outputs = all(fieldsOf(result), 2).map((file) => readDigest(bytesIn(fieldsOf(file), 2)))
  return (await inParallel(outputs, store.has)).every(Boolean) ? result : undefined
}

const updateResult: Unary = async (request, store) => {
  const fields = fieldsOf(request)
  await store.writeResult(readDigest(bytesIn(fields, 2)), bytesIn(fields, 3))
  return bytesIn(fields, 3)
}

/** SHA-256, writable results, batches of at most 2 MiB, zstd; versions 2.0 to 2.3 of the API. */
const CAPABILITIES = Buffer.from('0a0f0a0101120208012080808001320101220208022a0408021003', 'hex')

function parseName(resource: string): { digest: Digest; isZstd: boolean } {
  const [, hash = '', size = '0'] = /\/?(?:blobs|compressed-blobs\/zstd)\/([0-9a-f]{64})\/(\d+)$/.exec(resource) ?? []
  return { digest: { hash, size: Number(size) }, isZstd: resource.includes('compressed-blobs/zstd') }
}

async function read(call: ServerWritableStream<Buffer, Buffer>, store: PlainStore): Promise<void> {
  const { digest, isZstd } = parseName(textIn(fieldsOf(call.request), 1))
  if (!(await store.has(digest))) return void call.emit('error', { code: status.NOT_FOUND, details: 'no such blob' })
  const source = store.stream(digest)
  const params = { [constants.ZSTD_c_compressionLevel]: 1 }
  const content: Readable = isZstd ? source.pipe(createZstdCompress({ params })) : source
  for await (const chunk of content as AsyncIterable<Buffer>) {
    const message = Buffer.concat([headOf(10, chunk.length), chunk])
    if (!call.write(message)) await once(call, 'drain')
  }
  call.end()
}

async function write(call: ServerReadableStream<Buffer, Buffer>, answer: sendUnaryData<Buffer>, store: PlainStore) {
  const content = new PassThrough()
  let stored: Promise<boolean> | undefined
  let bytes = 0
  for await (const request of call as AsyncIterable<Buffer>) {
    const fields = fieldsOf(request)
    if (stored === undefined) {
      const { digest, isZstd } = parseName(textIn(fields, 1))
      const plain = isZstd ? createZstdDecompress() : undefined
      if (plain !== undefined) pipeline(content, plain).catch(() => {})
      stored = store.writeStream(digest, plain ?? content)
    }
    const data = bytesIn(fields, 10)
    bytes += data.length
    if (!content.write(data)) await once(content, 'drain')
    if (numberIn(fields, 3) === 1) break
  }
  content.end()
  if ((await stored) === true) answer(null, writeResponse(bytes))
  else answer({ code: status.INVALID_ARGUMENT, details: 'the bytes are not what their digest says' })
}

const raw = (message: Buffer): Buffer => message
const method = (path: string, requestStream: boolean, responseStream: boolean) => ({
  path,
  requestStream,
  responseStream,
  requestSerialize: raw,
  requestDeserialize: raw,
  responseSerialize: raw,
  responseDeserialize: raw,
})

const REAPI = '/build.bazel.remote.execution.v2'
const UNARY: Readonly<Record<string, Unary>> = {
  [`${REAPI}.Capabilities/GetCapabilities`]: async () => CAPABILITIES,
  [`${REAPI}.ContentAddressableStorage/FindMissingBlobs`]: findMissing,
  [`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`]: batchUpdate,
  [`${REAPI}.ContentAddressableStorage/BatchReadBlobs`]: batchRead,
  [`${REAPI}.ActionCache/GetActionResult`]: getResult,
  [`${REAPI}.ActionCache/UpdateActionResult`]: updateResult,
}

function serve(store: PlainStore): Server {
  const server = new Server({ 'grpc.max_receive_message_length': 16 * 1024 * 1024 })
  for (const [path, handle] of Object.entries(UNARY)) {
    const definition: ServiceDefinition = { call: method(path, false, false) }
    server.addService(definition, {
      call: (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => {
        handle(call.request, store).then(
          (message) =>
            message === undefined ? answer({ code: status.NOT_FOUND, details: 'not there' }) : answer(null, message),
          (error: Error) => answer({ code: status.INTERNAL, details: error.message }),
        )
      },
    })
  }
  const streams: ServiceDefinition = {
    read: method('/google.bytestream.ByteStream/Read', false, true),
    write: method('/google.bytestream.ByteStream/Write', true, false),
  }
  server.addService(streams, {
    read: (call: ServerWritableStream<Buffer, Buffer>) => {
      read(call, store).catch((error: Error) => call.emit('error', { code: status.INTERNAL, details: error.message }))
    },
    write: (call: ServerReadableStream<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => {
      write(call, answer, store).catch((error: Error) => answer({ code: status.INTERNAL, details: error.message }))
    },
  })
  return server
}

answerWith(({ folder }: { folder: string }) => {
  const server = serve(plainStore(folder))
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve({ port, pid: process.pid }) : reject(error),
    )
  })
})
