import { once } from 'node:events'
import {
  type ClientHttp2Session,
  connect,
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { ListenAddress } from '../../src/grpc/address.ts'
import { uint32 } from './requests.ts'

/** node:http2 without gRPC: a peer that sends exactly what a test specifies. */

export interface BareServer {
  readonly address: ListenAddress
  /** All connections ever accepted. */
  readonly sessions: Http2Session[]
  close(): Promise<void>
}

export async function bareServer(
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  settings: Settings = {},
): Promise<BareServer> {
  const server = createServer({ settings })
  const sessions: Http2Session[] = []
  server.on('session', (session) => sessions.push(session))
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {}) // many tests reset the stream on purpose
    onStream(stream, headers)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    for (const session of sessions) session.destroy()
    server.close()
    await once(server, 'close')
  }
  return { address: { host: '127.0.0.1', port }, sessions, close }
}

export const framed = (message: Uint8Array): Buffer => Buffer.concat([Buffer.of(0), uint32(message.length), message])

/** Sends the whole response of a unary call. */
export function answerWith(stream: ServerHttp2Stream, message: Uint8Array): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.end(framed(message))
}

export interface BareAnswer {
  readonly headers: IncomingHttpHeaders
  readonly trailers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface BareClient {
  readonly session: ClientHttp2Session
  ask(headers: OutgoingHttpHeaders, body?: Uint8Array): Promise<BareAnswer>
  close(): void
}

export function bareClient(address: ListenAddress, settings: Settings = {}): BareClient {
  if (!('port' in address)) throw new Error('a port is needed')
  const session = connect(`http://${address.host}:${address.port}`, { settings })
  session.on('error', () => {}) // the requests on it fail with the same error
  return { session, ask: (headers, body) => ask(session, headers, body), close: () => session.destroy() }
}

const GRPC = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }

async function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: Uint8Array): Promise<BareAnswer> {
  const stream = session.request({ ...GRPC, ...headers })
  const parts: Buffer[] = []
  let trailers: IncomingHttpHeaders = {}
  stream.on('data', (part: Buffer) => parts.push(part))
  stream.on('trailers', (received) => {
    trailers = received
  })
  stream.end(body)
  const ended = once(stream, 'close')
  ended.catch(() => {}) // the wait for a response fails with the same error
  const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  await ended
  return { headers: answer, trailers, body: Buffer.concat(parts) }
}
