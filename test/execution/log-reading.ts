import type { Channel } from '../../src/grpc/client/channel.ts'
import { readRequest, readWriteResponse, writeRequest } from '../../src/wire/calls/byte-stream.ts'
import { createLogStreamToProto, type LogStreamNames, logStreamFromProto } from '../../src/wire/reapi/log-stream.ts'
import { decoded, encoded } from './messages.ts'

const BYTE_STREAM = '/google.bytestream.ByteStream'

/** One who reads a log, by ByteStream.Read. */
export interface LogReader {
  /** Everything that has come so far. */
  readonly text: string
  /** Resolves when so much has come, or the stream has ended. */
  until(text: string): Promise<void>
  /** Resolves with all of it when the stream has ended well. */
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
    async until(wanted) {
      while (!text.includes(wanted)) if (!(await next())) throw new Error(`it ended with ${JSON.stringify(text)}`)
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

/** One stream of a writer; each text goes as a message. */
export interface LogWriter {
  write(text: string, finish?: boolean): void
  /** Ends the stream, and answers how much was written in all. */
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
