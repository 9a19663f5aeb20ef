import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Hono } from 'hono'
import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/log.ts'
import { capConnections } from './connection-cap.ts'
import { type BodyPace, openConnections } from './connections.ts'
import type { SocketLimits } from './socket-limits.ts'
import { proxyList } from './trusted-proxies.ts'
import { answerUnreadable } from './unreadable.ts'
import { isForSocket, type WebSocketRoute, webSockets } from './web-sockets.ts'

export type HttpAddress = { readonly host: string; readonly port: number } | { readonly path: string }

type Pem = string | Buffer

export interface ListenOptions {
  readonly clock: Clock
  /** With `clientCa`, callers must present a certificate that it signed. */
  readonly tls?: { readonly cert: Pem; readonly key: Pem; readonly clientCa?: Pem }
  readonly limits?: Partial<HttpLimits>
  /** Added to the app, after the rules that precede its routes. */
  readonly sockets?: readonly WebSocketRoute[]
  readonly socketLimits?: Partial<SocketLimits>
  readonly log?: Log
  /** Addresses of proxies, which forward requests of many callers; see trusted-proxies.ts. */
  readonly trustedProxies?: readonly string[]
}

/** Limits of one peer. Each prevents a way to block the server with little effort. */
export interface HttpLimits {
  readonly headersMs: number
  /**
   * For headers and body together: a large blob over a slow connection takes hours. A stalled body is ended by its
   * route.
   */
  readonly requestMs: number
  /**
   * Longer than the 60 s of most proxies, so that the server does not close a connection while a proxy sends a request.
   */
  readonly keepAliveMs: number
  readonly headerBytes: number
  readonly connections: number
  /** A trusted proxy may use all connections of the server. */
  readonly connectionsPerAddress: number
  /** Connections above these caps that are read for one request: health requests are answered, others get 429. */
  readonly connectionsAbove: number
  readonly bodyPace: BodyPace
  /** How often `headersMs` and `requestMs` are checked. */
  readonly checkMs: number
}

export const HTTP_LIMITS: HttpLimits = {
  headersMs: 10_000,
  requestMs: 6 * 3_600_000,
  keepAliveMs: 75_000,
  headerBytes: 16 * 1024,
  connections: 10_000,
  connectionsPerAddress: 2_500,
  connectionsAbove: 2_500,
  bodyPace: { bytesPerSecond: 250, windowMs: 20_000 },
  checkMs: 1_000,
}

export interface HttpListener {
  /** `127.0.0.1:8080`, `[::1]:8080` or `unix:/path`, with the actual port. */
  readonly address: string
  /** New requests are handled by this app; running requests end with the old one. */
  replaceApp(app: Hono): void
  /** New connections use these certificates. Only for a listener that was made with TLS. */
  setTls(tls: NonNullable<ListenOptions['tls']>): void
  /** Accepts no more connections, closes idle ones at once, and waits up to `graceMs` for running requests. */
  close(graceMs: number): Promise<void>
}

export async function listenHttp(app: Hono, address: HttpAddress, options: ListenOptions): Promise<HttpListener> {
  let listener = listenerOf(app)
  const server = makeServer(listener, options)
  const httpLimits = { ...HTTP_LIMITS, ...options.limits }
  capConnections(server, httpLimits, proxyList(options.trustedProxies ?? []))
  const connections = openConnections(server, httpLimits.bodyPace, options.clock)
  const { clock, log, socketLimits: limits } = options
  const sockets = webSockets(options.sockets ?? [], { clock, log, limits })
  sockets.mount(app)
  sockets.listen(server, (request, response) => listener(request, response))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (connections.isIdle(socket)) answerUnreadable(error.code, socket)
    else socket.destroy() // in the middle of a response, or before the TLS handshake
  })
  await listening(server, address)
  return {
    address: nameOf(server),
    replaceApp(next) {
      sockets.mount(next)
      server.off('request', listener)
      listener = listenerOf(next)
      server.on('request', listener)
    },
    setTls(tls) {
      if (server instanceof TlsServer) server.setSecureContext(pem(tls))
    },
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      connections.closeIdle()
      sockets.close()
      const takeBack = clock.after(graceMs, connections.cut)
      await closed
      takeBack()
    },
  }
}

/** The first request loads the adapter, and with it all of `fetch`: a server starts faster and smaller without it. */
function listenerOf(app: Hono): RequestListener {
  let loading: Promise<RequestListener> | undefined
  let loaded: RequestListener | undefined
  return async (request, response) => {
    loading ??= import('./app-listener.ts').then(({ appListener }) => appListener(app))
    loaded ??= await loading
    loaded(request, response)
  }
}

function makeServer(listener: RequestListener, { tls, limits }: ListenOptions): Server {
  const { headersMs, requestMs, keepAliveMs, headerBytes, checkMs } = { ...HTTP_LIMITS, ...limits }
  const settings = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: headerBytes,
    connectionsCheckingInterval: checkMs,
    requireHostHeader: false, // browser-rules.ts checks it and names the missing header
    shouldUpgradeCallback: isForSocket,
  }
  return tls === undefined
    ? createServer(settings, listener)
    : createTlsServer({ ...settings, ...pem(tls), handshakeTimeout: headersMs }, listener)
}

const pem = ({ cert, key, clientCa }: NonNullable<ListenOptions['tls']>) =>
  clientCa === undefined ? { cert, key } : { cert, key, ca: clientCa, requestCert: true, rejectUnauthorized: true }

const listening = (server: Server, address: HttpAddress): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...address }, () => {
      server.off('error', reject)
      resolve()
    })
  })

function nameOf(server: Server): string {
  const bound = server.address() as AddressInfo | string
  if (typeof bound === 'string') return `unix:${bound}`
  return bound.family === 'IPv6' ? `[${bound.address}]:${bound.port}` : `${bound.address}:${bound.port}`
}
