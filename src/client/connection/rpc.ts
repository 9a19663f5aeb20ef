import type { CallOptions } from '../../grpc/client/call-options.ts'
import type { Channel } from '../../grpc/client/channel.ts'

/** One method, with the codecs of its two messages. */
export interface Rpc<Request, Response> {
  /** `/package.Service/Method` */
  readonly path: string
  readonly encode: (request: Request) => Uint8Array
  readonly decode: (response: Uint8Array) => Response
}

/** A client stream under way. */
export interface UploadCall<Request, Response> {
  /** Resolves when more may be written; never rejects: `answer` reports how the call ended. */
  write(request: Request): Promise<void>
  finish(): void
  /** The server's answer, whenever it comes. */
  readonly answer: Promise<Response>
  cancel(): void
}

/** Calls with typed messages. Failures are GrpcErrors. */
export interface RpcClient {
  unary<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options?: CallOptions): Promise<Response>
  stream<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: Request,
    options?: CallOptions,
  ): AsyncIterable<Response>
  upload<Request, Response>(rpc: Rpc<Request, Response>, options?: CallOptions): UploadCall<Request, Response>
  /** Bytes as they are: for messages that no codec would make. */
  raw(path: string, message: Uint8Array, options?: CallOptions): Promise<Uint8Array>
}

/** `always` is sent with every call; metadata of a call overrides it. */
export function rpcClient(channel: Channel, always: CallOptions = {}): RpcClient {
  const withAlways = (options: CallOptions = {}): CallOptions => ({ ...always, ...options })
  return {
    async unary(rpc, request, options) {
      const { message } = await channel.unary(rpc.path, rpc.encode(request), withAlways(options))
      return rpc.decode(message)
    },
    async *stream(rpc, request, options) {
      const call = channel.serverStreaming(rpc.path, rpc.encode(request), withAlways(options))
      for await (const message of call) yield rpc.decode(message)
    },
    upload: (rpc, options) => openUpload(channel, rpc, withAlways(options)),
    raw: async (path, message, options) => (await channel.unary(path, message, withAlways(options))).message,
  }
}

function openUpload<Request, Response>(
  channel: Channel,
  rpc: Rpc<Request, Response>,
  options: CallOptions,
): UploadCall<Request, Response> {
  const call = channel.open(rpc.path, options)
  const answer = call.next().then(async (message) => {
    // A response counts only with status OK; without a response the status gives the reason.
    await call.trailers
    return rpc.decode(message ?? new Uint8Array())
  })
  answer.catch(() => {})
  return {
    async write(request) {
      if (!call.write(rpc.encode(request))) await call.drained().catch(() => {})
    },
    finish: () => call.finish(),
    answer,
    cancel: () => call.cancel(),
  }
}

export async function allMessagesOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
