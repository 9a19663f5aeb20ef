import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as requestPlain,
} from 'node:http'
import { request as requestTls, Agent as TlsAgent } from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Clock } from '../../base/clock.ts'
import { FaultError, invalid } from '../../base/fault.ts'

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  /** Begins with a slash; appended to the path of the server's URL. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  /** From the start to the head of the response. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/**
 * Calls one server over persistent connections. A server that cannot be reached is a fault; any status is an answer.
 */
export interface HttpCaller {
  call(request: HttpRequest): Promise<HttpAnswer>
  /** The caller reads or destroys the body of the answer. */
  open(request: HttpRequest): Promise<IncomingMessage>
  close(): void
}

export interface HttpCallerOptions {
  /** `http://host:port` or `https://host:port`, optionally with a path, or `unix:/path`. */
  readonly url: string
  readonly clock: Pick<Clock, 'after'>
  readonly tls?: { readonly [part in 'ca' | 'cert' | 'key']?: string | Buffer | undefined } & {
    /** The name that the server's certificate must have. */
    readonly serverName?: string
  }
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** May contain HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** The limit of an answer that is read whole. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024
/** Proxies may close connections that are idle for longer. */
const KEEP_ALIVE_MS = 15_000

export function httpCaller({ url, clock, tls = {}, env = {}, headers: always = {} }: HttpCallerOptions): HttpCaller {
  const { base, socketPath } = baseOf(url)
  const isSecure = base.protocol === 'https:'
  const kept = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, scheduling: 'lifo' } as const
  const settings = { ...kept, ...(socketPath === undefined && { proxyEnv: env }) }
  const agent = isSecure ? new TlsAgent(settings) : new Agent(settings)
  const send = isSecure ? requestTls : requestPlain
  // Passed with every request: the agent compares it with its kept connections, and a reload may have changed it.
  const credentials = (): object => {
    if (!isSecure) return {}
    const { serverName, ...files } = tls
    // A certificate in the settings is trusted by itself, even if it is the server's own.
    const trust = { ...files, allowPartialTrustChain: tls.ca !== undefined }
    return serverName === undefined ? trust : { ...trust, servername: serverName }
  }
  const where: RequestOptions = {
    agent,
    ...(socketPath === undefined
      ? { host: base.hostname.replace(/^\[|\]$/g, ''), port: base.port || (isSecure ? 443 : 80) }
      : { socketPath, host: 'localhost' }),
  }
  const prefix = base.pathname.replace(/\/$/, '')

  const once = (request: HttpRequest): Promise<IncomingMessage> =>
    sendOnce(
      { ...request, headers: { ...always, ...request.headers } },
      { clock, begin: (more) => send({ ...where, ...credentials(), path: `${prefix}${request.path}`, ...more }) },
    )

  const open = async (request: HttpRequest): Promise<IncomingMessage> => {
    try {
      return await once(request).catch((error: unknown) => {
        // The server closed an idle connection at the moment that this request used it.
        const mayRepeat = request.body === undefined || request.body instanceof Uint8Array
        if (error instanceof Lost && error.isStale && mayRepeat) return once(request)
        throw error
      })
    } catch (error) {
      request.signal?.throwIfAborted()
      const cause = error instanceof Lost ? error.cause : error
      throw new FaultError({ kind: 'unavailable', what: `${url}: ${(cause as Error).message}` }, cause)
    }
  }
  return {
    open,
    async call(request) {
      const answer = await open(request)
      return { status: answer.statusCode ?? 0, headers: answer.headers, body: await wholeOf(answer, url) }
    },
    close: () => agent.destroy(),
  }
}

interface Sending {
  readonly clock: Pick<Clock, 'after'>
  readonly begin: (more: RequestOptions) => ClientRequest
}

function sendOnce(request: HttpRequest, { clock, begin }: Sending): Promise<IncomingMessage> {
  const { method, body, signal, timeoutMs } = request
  const length = body instanceof Uint8Array ? { 'content-length': String(body.length) } : {}
  return new Promise((resolve, reject) => {
    const outgoing = begin({ method, headers: { ...length, ...request.headers }, ...(signal && { signal }) })
    const forget = clock.after(timeoutMs, () => outgoing.destroy(new Error(`no answer in ${timeoutMs / 1000} s`)))
    outgoing.on('response', (answer) => {
      forget()
      resolve(answer)
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      forget()
      reject(new Lost(error, outgoing.reusedSocket && error.code === 'ECONNRESET'))
    })
    if (body === undefined || body instanceof Uint8Array) outgoing.end(body)
    else pipeline(Readable.from(body), outgoing).catch((error: Error) => outgoing.destroy(error))
  })
}

class Lost extends Error {
  readonly isStale: boolean

  constructor(cause: Error, isStale: boolean) {
    super(cause.message, { cause })
    this.isStale = isStale
  }
}

async function wholeOf(answer: IncomingMessage, url: string): Promise<Buffer> {
  const parts: Buffer[] = []
  let bytes = 0
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      bytes += part.length
      if (bytes > MOST_ANSWER_BYTES) throw new Error('the answer is too long')
      parts.push(part)
    }
  } catch (error) {
    throw new FaultError({ kind: 'unavailable', what: `${url}: ${(error as Error).message}` }, error)
  }
  return Buffer.concat(parts)
}

function baseOf(url: string): { readonly base: URL; readonly socketPath: string | undefined } {
  const socketPath = /^unix:(?:\/\/)?(\/.+)$/.exec(url)?.[1]
  if (socketPath !== undefined) return { base: new URL('http://localhost/'), socketPath }
  const base = URL.parse(url)
  if (base === null || (base.protocol !== 'http:' && base.protocol !== 'https:') || base.search !== '')
    throw invalid(`${url} is none of http://host:port, https://host:port and unix:/path`)
  return { base, socketPath }
}
