import type { RpcClient, UploadCall } from '../../../client/connection/rpc.ts'
import { allMessagesOf } from '../../../client/connection/rpc.ts'
import type { CallOptions } from '../../../grpc/client/call-options.ts'
import type {
  QueryWriteStatusResponse,
  ReadResponse,
  WriteRequest,
  WriteResponse,
} from '../../../wire/gen/google/bytestream/bytestream.ts'
import { ifImplemented } from './implemented.ts'
import { RPC } from './rpcs.ts'

export interface ReadOptions extends CallOptions {
  readonly offset?: number
  readonly limit?: number
}

/** ByteStream, from the simplest use to the message. */
export interface Streams {
  read(resourceName: string, options?: ReadOptions): Promise<Uint8Array>
  /** The data of each message. */
  messages(resourceName: string, options?: ReadOptions): AsyncIterable<Uint8Array>
  /** All of it in messages of `pieceBytes`, the name in the first; answers the committed size. */
  write(resourceName: string, bytes: Uint8Array, options?: CallOptions & { pieceBytes?: number }): Promise<number>
  /** These messages and the end of the stream. */
  send(messages: readonly Partial<WriteRequest>[], options?: CallOptions): Promise<WriteResponse>
  open(options?: CallOptions): UploadCall<Partial<WriteRequest>, WriteResponse>
  /** Not offered, where the server does not implement it. */
  query(resourceName: string): Promise<QueryWriteStatusResponse>
}

const NOTHING = new Uint8Array()
const PIECE_BYTES = 1024 * 1024

export function streams(rpcs: RpcClient): Streams {
  const messages = async function* (resourceName: string, { offset = 0, limit = 0, ...options }: ReadOptions = {}) {
    const answers: AsyncIterable<ReadResponse> = rpcs.stream(
      RPC.read,
      { resourceName, readOffset: offset, readLimit: limit },
      options,
    )
    for await (const { data } of answers) yield data
  }
  const open: Streams['open'] = (options) => {
    const upload = rpcs.upload(RPC.write, options)
    const whole = { resourceName: '', writeOffset: 0, finishWrite: false, data: NOTHING }
    return { ...upload, write: (message) => upload.write({ ...whole, ...message }) }
  }
  const send: Streams['send'] = async (requests, options) => {
    const upload = open(options)
    for (const request of requests) await upload.write(request)
    upload.finish()
    return await upload.answer
  }
  return {
    messages,
    open,
    send,
    read: async (resourceName, options) => Buffer.concat(await allMessagesOf(messages(resourceName, options))),
    write: async (resourceName, bytes, { pieceBytes = PIECE_BYTES, ...options } = {}) =>
      (await send(pieces(resourceName, bytes, pieceBytes), options)).committedSize,
    query: (resourceName) => ifImplemented('QueryWriteStatus', rpcs.unary(RPC.queryWriteStatus, { resourceName })),
  }
}

/** A whole upload as messages: the name in the first, finish_write in the last. */
export function pieces(resourceName: string, bytes: Uint8Array, pieceBytes: number): Partial<WriteRequest>[] {
  const count = Math.max(1, Math.ceil(bytes.length / pieceBytes))
  return Array.from({ length: count }, (_, index) => ({
    ...(index === 0 ? { resourceName } : {}),
    writeOffset: index * pieceBytes,
    data: bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
    finishWrite: index === count - 1,
  }))
}
