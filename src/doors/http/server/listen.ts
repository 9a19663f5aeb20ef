import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/log.ts'
import { proxyList } from './caller-address.ts'
import { capConnections } from './connection-cap.ts'
import { openConnections } from './connections.ts'
import { type BodyPace, cutSlowBodies } from './slow-bodies.ts'
import type { SocketLimits } from './socket-limits.ts'
import { answerUnreadable, unreadable } from './unreadable.ts'
import { isForSocket, type WebSocketRoute, webSockets } from './web-sockets.ts'

export type HttpAddress = { readonly host: string; readonly port: number } | { readonly path: string }

type Pem = string | Buffer

export interface ListenOptions {
  readonly clock: Clock
  /** With `clientCa`, callers must show a certificate that it signed. */
  readonly tls?: { readonly cert: Pem; readonly key: Pem; readonly clientCa?: Pem }
  readonly limits?: Partial<HttpLimits>
  /** Put into the app, behind all that stands before its routes. */
  readonly sockets?: readonly WebSocketRoute[]
  readonly socketLimits?: Partial<SocketLimits>
  readonly log?: Log
  /** Addresses that stand for many callers; see caller-address.ts. */
  readonly trustedProxies?: readonly string[]
}

/** Limits of one peer: each stops a way of holding the server with little effort. */
export interface HttpLimits {
  readonly headersMs: number
  /** For headers and body together: a large blob over a slow line takes hours. One that stalls is its route's to end. */
  readonly requestMs: number
  /** Longer than the 60 s of most proxies, so that this server never closes a connection under a request. */
  readonly keepAliveMs: number
  readonly headerBytes: number
  readonly connections: number
  /** A trusted proxy may open as many connections as there may be in all. */
  readonly connectionsPerAddress: number
  /** Above these caps, read for one request: health requests are answered, others get 429. */
  readonly connectionsAbove: number
  readonly bodyPace: BodyPace
  /** How often the first two are looked at. */
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
  /** `127.0.0.1:8080`, `[::1]:8080` or `unix:/path`, with the port that was really taken. */
  readonly address: string
  /** New requests go to this app; those in hand end with the old one. */
  replaceApp(app: Hono): void
  /** New connections meet these certificates. Only for a listener that was made with TLS. */
  setTls(tls: NonNullable<ListenOptions['tls']>): void
  /** Takes no more connections, ends idle ones at once, and lets running requests finish for up to `graceMs`. */
  close(graceMs: number): Promise<void>
}

export async function listenHttp(app: Hono, address: HttpAddress, options: ListenOptions): Promise<HttpListener> {
  let current = app
  const listener = getRequestListener((request, env) => current.fetch(request, env), {
    errorHandler: unreadable,
  }) as RequestListener
  const server = makeServer(listener, options)
  const httpLimits = { ...HTTP_LIMITS, ...options.limits }
  capConnections(server, httpLimits, proxyList(options.trustedProxies ?? []))
  cutSlowBodies(server, httpLimits.bodyPace, options.clock)
  const connections = openConnections(server)
  const { clock, log, socketLimits: limits } = options
  const sockets = webSockets(options.sockets ?? [], { clock, log, limits })
  sockets.mount(app)
  sockets.listen(server, listener)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (connections.isIdle(socket)) answerUnreadable(error.code, socket)
    else socket.destroy() // in the middle of an answer, or before TLS is up
  })
  await listening(server, address)
  return {
    address: nameOf(server),
    replaceApp(next) {
      sockets.mount(next)
      current = next
    },
    setTls(tls) {
      if (server instanceof TlsServer) server.setSecureContext(pem(tls))
    },
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      connections.endIdle()
      sockets.close()
      const takeBack = clock.after(graceMs, connections.cut)
      await closed
      takeBack()
    },
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
    requireHostHeader: false, // ours says in words what is missing
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
