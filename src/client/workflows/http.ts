import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { pipeline } from 'node:stream/promises'
import { FaultError } from '../../base/fault.ts'
import type { ClientTls } from '../../grpc/client/channel.ts'

export interface HttpCall {
  readonly method: string
  /** With a leading slash. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
}

export interface ApiResponse {
  readonly status: number
  readonly body: IncomingMessage
}

/** Requests to one server, over connections that are kept. */
export interface ApiCaller {
  /** Resolves with the head of the response, whatever its status; the caller must read the body. */
  call(call: HttpCall, signal: AbortSignal): Promise<ApiResponse>
  close(): void
}

export interface ApiCallerOptions {
  readonly url: URL
  readonly tls?: ClientTls
  readonly headers?: Readonly<Record<string, string>>
}

const MOST_CONNECTIONS = 16

/**
 * Imported, this module would hand over all that it offers, a whole WebSocket client among it, which takes longer to load than
 * everything else that a short command does.
 */
const load = createRequire(import.meta.url)
const ways = {
  plain: () => load('node:http') as typeof import('node:http'),
  secure: () => load('node:https') as typeof import('node:https'),
}

export function apiCaller({ url, tls = {}, headers: always = {} }: ApiCallerOptions): ApiCaller {
  const isSecure = url.protocol === 'https:'
  const options = { keepAlive: true, maxSockets: MOST_CONNECTIONS }
  const { Agent, request } = isSecure ? ways.secure() : ways.plain()
  // A certificate that the caller names is trusted by itself, be it the server's own.
  const agent = new Agent({ ...options, ...tls, ...(isSecure && { allowPartialTrustChain: tls.ca !== undefined }) })
  const base = url.pathname.replace(/\/+$/, '')
  const call: ApiCaller['call'] = ({ method, path, headers = {}, body }, signal) =>
    new Promise((resolve, reject) => {
      const length = body instanceof Uint8Array ? { 'content-length': String(body.length) } : {}
      const target = {
        ...{ agent, signal, method, host: url.hostname.replace(/^\[|\]$/g, ''), path: base + path },
        port: url.port === '' ? (isSecure ? 443 : 80) : url.port,
        headers: { ...always, ...length, ...headers },
      }
      const sent = request(target)
      const failed = (error: Error): void => reject(signal.aborted ? error : unreachable(url, error))
      sent.once('response', (answer) => resolve({ status: answer.statusCode ?? 0, body: answer }))
      sent.once('error', failed)
      if (body === undefined || body instanceof Uint8Array) sent.end(body)
      else pipeline(body, sent).catch(failed)
    })
  return { call, close: () => agent.destroy() }
}

const unreachable = (url: URL, cause: Error): FaultError =>
  new FaultError({ kind: 'unavailable', what: `the server at ${url.origin} does not answer: ${cause.message}` }, cause)

export async function wholeText({ body }: ApiResponse): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}
