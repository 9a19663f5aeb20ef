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
  /** With a slash first, below the server's own path. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  /** From the start to the head of the answer. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** One server, over connections that are kept open. A server that cannot be reached is a fault, any answer is one. */
export interface HttpCaller {
  call(request: HttpRequest): Promise<HttpAnswer>
  /** The answer's body is the caller's to read, or to destroy. */
  open(request: HttpRequest): Promise<IncomingMessage>
  close(): void
}

export interface HttpCallerOptions {
  /** `http://host:port`, `https://host:port`, each with a path before ours if need be, or `unix:/path`. */
  readonly url: string
  readonly clock: Pick<Clock, 'after'>
  readonly tls?: { readonly [part in 'ca' | 'cert' | 'key']?: string | Buffer | undefined } & {
    /** The name that the server must prove. */
    readonly serverName?: string
  }
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are looked for. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** More than any answer that is read whole. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024
/** A proxy may cut what is idle for longer. */
const KEEP_ALIVE_MS = 15_000

export function httpCaller({ url, clock, tls = {}, env = {}, headers: always = {} }: HttpCallerOptions): HttpCaller {
  const { base, socketPath } = baseOf(url)
  const isSecure = base.protocol === 'https:'
  const kept = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, scheduling: 'lifo' } as const
  const settings = { ...kept, ...(socketPath === undefined && { proxyEnv: env }) }
  const agent = isSecure ? new TlsAgent(settings) : new Agent(settings)
  const send = isSecure ? requestTls : requestPlain
  // With every request: the agent compares it with the connections that it keeps, and a reload may have changed it.
  const credentials = (): object => {
    if (!isSecure) return {}
    const { serverName, ...files } = tls
    // A certificate that the settings name is trusted by itself, be it the server's own.
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

  const once = (wish: HttpRequest): Promise<IncomingMessage> =>
    sendOnce(
      { ...wish, headers: { ...always, ...wish.headers } },
      { clock, request: (more) => send({ ...where, ...credentials(), path: `${prefix}${wish.path}`, ...more }) },
    )

  const open = async (wish: HttpRequest): Promise<IncomingMessage> => {
    try {
      return await once(wish).catch((error: unknown) => {
        // The server closed what it took for idle, at the moment that we used it.
        const mayRepeat = wish.body === undefined || wish.body instanceof Uint8Array
        if (error instanceof Lost && error.isStale && mayRepeat) return once(wish)
        throw error
      })
    } catch (error) {
      wish.signal?.throwIfAborted()
      const cause = error instanceof Lost ? error.cause : error
      throw new FaultError({ kind: 'unavailable', what: `${url}: ${(cause as Error).message}` }, cause)
    }
  }
  return {
    open,
    async call(wish) {
      const answer = await open(wish)
      return { status: answer.statusCode ?? 0, headers: answer.headers, body: await wholeOf(answer, url) }
    },
    close: () => agent.destroy(),
  }
}

interface Sending {
  readonly clock: Pick<Clock, 'after'>
  readonly request: (more: RequestOptions) => ClientRequest
}

function sendOnce(wish: HttpRequest, { clock, request }: Sending): Promise<IncomingMessage> {
  const { method, body, signal, timeoutMs } = wish
  const length = body instanceof Uint8Array ? { 'content-length': String(body.length) } : {}
  return new Promise((resolve, reject) => {
    const outgoing = request({ method, headers: { ...length, ...wish.headers }, ...(signal && { signal }) })
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
