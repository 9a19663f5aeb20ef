import type { Channel } from '../../src/grpc/client/channel.ts'
import { readRequest, readWriteResponse, writeRequest } from '../../src/wire/calls/byte-stream.ts'
import { createLogStreamToProto, type LogStreamNames, logStreamFromProto } from '../../src/wire/reapi/log-stream.ts'
import { decoded, encoded } from './messages.ts'

const BYTE_STREAM = '/google.bytestream.ByteStream'

/** A reader of a log, by ByteStream.Read. */
export interface LogReader {
  /** Everything received so far. */
  readonly text: string
  /** Resolves when this text has been received, or the stream has ended. */
  until(text: string): Promise<void>
  /** Resolves with the whole text when the stream has ended successfully. */
  rest(): Promise<string>
  cancel(): void
}

export function readLog(
  channel: Channel,
  resourceName: string,
  { offset = 0, limit = 0 }: { offset?: number; limit?: number } = {},
): LogReader {
  const call = channel.serverStreaming(`${BYTE_STREAM}/Read`, readRequest({ resourceName, offset, limit }))
  call.trailers.catch(() => {})
  let text = ''
  const next = async (): Promise<boolean> => {
    const message = await call.next()
    const { data = '' } = message ? decoded<{ data?: string }>('google.bytestream.ReadResponse', message) : {}
    text += Buffer.from(data, 'base64').toString()
    return message !== undefined
  }
  return {
    get text() {
      return text
    },
    async until(expected) {
      while (!text.includes(expected)) if (!(await next())) throw new Error(`it ended with ${JSON.stringify(text)}`)
    },
    async rest() {
      while (await next());
      return text
    },
    cancel: () => call.cancel(),
  }
}

export async function createLog(channel: Channel, parent = ''): Promise<LogStreamNames> {
  const path = '/build.bazel.remote.logstream.v1.LogStreamService/CreateLogStream'
  return logStreamFromProto((await channel.unary(path, createLogStreamToProto(parent))).message)
}

/** One stream of a writer; each text is one message. */
export interface LogWriter {
  write(text: string, finish?: boolean): void
  /** Ends the stream, and returns the committed size. */
  end(): Promise<number>
}

export function writeLog(channel: Channel, resourceName: string, from = 0): LogWriter {
  const call = channel.open(`${BYTE_STREAM}/Write`)
  let offset = from
  return {
    write(text, finish = false) {
      const data = Buffer.from(text)
      call.write(Buffer.concat(writeRequest({ resourceName, offset, finish, data })))
      offset += data.length
    },
    async end() {
      call.finish()
      const answer = await call.next()
      await call.trailers
      return readWriteResponse(answer ?? new Uint8Array())
    },
  }
}

export async function writeStatus(channel: Channel, resourceName: string): Promise<Record<string, unknown>> {
  const request = encoded('google.bytestream.QueryWriteStatusRequest', { resourceName })
  const { message } = await channel.unary(`${BYTE_STREAM}/QueryWriteStatus`, request)
  return decoded('google.bytestream.QueryWriteStatusResponse', message)
}
