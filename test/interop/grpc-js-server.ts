import {
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type UntypedHandleCall,
} from '@grpc/grpc-js'
import type { ListenAddress } from '../../src/grpc/address.ts'
import type { Method } from '../../src/grpc/service.ts'
import { type InteropServer, MAX_MESSAGE_BYTES, METHODS, SERVICE, type Trust, targetOf } from './conversation.ts'
import { asIs, fieldsOf, toBuffer, toMetadata } from './grpc-js-client.ts'
import { DETAILS, FAIL_TRAILERS, nothingSeen, payload, type SeenSoFar, tally } from './requests.ts'

export interface GrpcJsServerOptions {
  readonly address?: ListenAddress
  readonly trust?: Trust
}

/** The Interop service on grpc-js. */
export async function grpcJsServer(options: GrpcJsServerOptions = {}): Promise<InteropServer> {
  const { address = { host: '127.0.0.1', port: 0 }, trust } = options
  const server = new Server({ 'grpc.max_receive_message_length': MAX_MESSAGE_BYTES })
  const seen = nothingSeen()
  server.addService(DEFINITION, { ...HANDLERS, ...observed(seen) })
  const port = await new Promise<number>((resolve, reject) => {
    const bound = (error: Error | null, number: number): void => (error === null ? resolve(number) : reject(error))
    server.bindAsync(targetOf(address), credentialsFor(trust), bound)
  })
  const close = () => server.forceShutdown()
  return { address: 'path' in address ? address : { ...address, port }, close }
}

const credentialsFor = (trust: Trust | undefined): ServerCredentials =>
  trust?.cert === undefined || trust.key === undefined
    ? ServerCredentials.createInsecure()
    : ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(trust.cert), private_key: Buffer.from(trust.key) }])

const define = ([name, kind]: [string, Method['kind']]): [string, MethodDefinition<Buffer, Buffer>] => [
  name,
  {
    path: `/${SERVICE}/${name}`,
    requestStream: kind === 'clientStreaming' || kind === 'bidi',
    responseStream: kind === 'serverStreaming' || kind === 'bidi',
    requestSerialize: toBuffer,
    requestDeserialize: asIs,
    responseSerialize: toBuffer,
    responseDeserialize: asIs,
  },
]

const DEFINITION = Object.fromEntries(Object.entries(METHODS).map(define))

type Answer = sendUnaryData<Buffer>

const HANDLERS: Record<string, UntypedHandleCall> = {
  Unary: ({ request }: ServerUnaryCall<Buffer, Buffer>, answer: Answer) => answer(null, request),
  async ServerStream(call: ServerWritableStream<Buffer, Buffer>) {
    await send(call, copies(call.request.readUInt32BE(0), call.request.subarray(4)))
  },
  ClientStream(call: ServerReadableStream<Buffer, Buffer>, answer: Answer) {
    call.toArray().then(
      (messages) => answer(null, tally(messages)),
      () => {}, // the call ended before the wait was over
    )
  },
  Bidi(call: ServerDuplexStream<Buffer, Buffer>) {
    call.on('data', (message: Buffer) => call.write(message))
    call.on('end', () => call.end())
  },
  Fail({ request }: ServerUnaryCall<Buffer, Buffer>, answer: Answer) {
    const metadata = toMetadata(FAIL_TRAILERS)
    metadata.set('grpc-status-details-bin', DETAILS)
    answer({ code: request.readUInt32BE(0), details: request.subarray(4).toString('utf8'), metadata })
  },
  Metadata(call: ServerUnaryCall<Buffer, Buffer>, answer: Answer) {
    const fields = fieldsOf(call.metadata)
    call.sendMetadata(toMetadata(fields))
    answer(null, Buffer.alloc(0), toMetadata(fields))
  },
  Early(call: ServerReadableStream<Buffer, Buffer>, answer: Answer) {
    call.once('data', (message: Buffer) => answer(null, message))
  },
  EarlyBidi(call: ServerDuplexStream<Buffer, Buffer>) {
    call.once('data', (message: Buffer) => {
      call.write(message)
      call.end()
    })
  },
}

async function send(call: ServerWritableStream<Buffer, Buffer>, messages: Iterable<Buffer>): Promise<void> {
  for (const message of messages) {
    if (!call.write(message)) await new Promise((resolve) => call.once('drain', resolve))
  }
  call.end()
}

const observed = (seen: SeenSoFar): Record<string, UntypedHandleCall> => ({
  async Large(call: ServerWritableStream<Buffer, Buffer>) {
    const message = payload(call.request.readUInt32BE(4))
    const count = call.request.readUInt32BE(0)
    const counted = function* () {
      for (seen.sent = 1; seen.sent <= count; seen.sent++) yield message
    }
    await send(call, counted())
  },
  Slow(call: ServerWritableStream<Buffer, Buffer>) {
    const deadline = call.getDeadline()
    seen.waiting++
    seen.remainingMs = deadline === Number.POSITIVE_INFINITY ? null : Number(deadline) - Date.now()
    call.on('cancelled', () => seen.stopped++)
    call.write(call.request)
  },
  Seen: (_call: ServerUnaryCall<Buffer, Buffer>, answer: Answer) => answer(null, Buffer.from(JSON.stringify(seen))),
})

function* copies(count: number, message: Buffer): Generator<Buffer> {
  for (let i = 0; i < count; i++) yield message
}
