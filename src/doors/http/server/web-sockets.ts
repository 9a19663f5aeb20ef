import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Context, Hono } from 'hono'
import { TrieRouter } from 'hono/router/trie-router'
import { tryDecode } from 'hono/utils/url'
import { type Server as SocketServer, type WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/log.ts'
import { BY_SOCKET_FILE, networkOf } from './callers.ts'
import { CarefulSocket } from './careful-socket.ts'
import { type HttpError, sendError } from './http-error.ts'
import { socketKeeper } from './socket-keeper.ts'
import { SOCKET_LIMITS, type SocketLimits } from './socket-limits.ts'

/**
 * WebSockets are routes like all others: the upgrade request passes the same middlewares, so the rules against foreign
 * pages and the limits apply to it. The route then turns the connection into a socket.
 */
export interface WebSocketRoute {
  /** `/api/v1/workers/connect`, or with parameters: `/api/v1/tasks/:id/terminal`. */
  readonly path: string
  /** Replaces the standard limit. */
  readonly maxMessageBytes?: number
  /** May send at once. The server handles errors, and closes sockets of peers that are dead or do not read. */
  accept(socket: WebSocket, request: WebSocketRequest): void
}

export interface WebSocketRequest {
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** The caller's address behind trusted proxies; `unix` for a socket file. */
  readonly address: string
}

export interface WebSocketOptions {
  readonly clock: Clock
  readonly log?: Log | undefined
  readonly limits?: Partial<SocketLimits> | undefined
}

export interface WebSockets {
  /** Must be called before the first request: Hono accepts no routes after it. */
  mount(app: Hono): void
  /** Passes each upgrade request of the server to the app. */
  listen(server: Server, listener: RequestListener): void
  /** Closes all open sockets with code 1001. */
  close(): void
}

type Handshakes = SocketServer<typeof CarefulSocket>

interface Served {
  readonly route: WebSocketRoute
  readonly handshakes: Handshakes
}

interface UpgradeRequest {
  readonly request: IncomingMessage
  readonly socket: Socket
  readonly head: Buffer
  readonly response: ServerResponse
}

/** Maps upgrade requests to the function that answers them. It returns undefined for a path without a socket. */
const asking = new WeakMap<IncomingMessage, (c: Context) => Response | undefined>()

const incomingOf = (c: Context): IncomingMessage | undefined => (c.env as { incoming?: IncomingMessage })?.incoming

/**
 * The answer to an upgrade request; undefined for other requests and paths without a socket. Called before all routes:
 * a route may have a parameter where the path of a socket has a fixed word.
 */
export const upgradeAnswer = (c: Context): Response | undefined => {
  const incoming = incomingOf(c)
  return incoming && asking.get(incoming)?.(c)
}

export function webSockets(routes: readonly WebSocketRoute[], options: WebSocketOptions): WebSockets {
  const limits = { ...SOCKET_LIMITS, ...options.limits }
  const keeper = socketKeeper(limits, options.clock)
  const router = new TrieRouter<Served>()
  for (const route of routes) {
    router.add('GET', route.path, { route, handshakes: handshakes(route.maxMessageBytes ?? limits.messageBytes) })
  }

  function answer(c: Context, ask: UpgradeRequest): Response | undefined {
    const [found] = router.match('GET', c.req.path)[0]
    if (found === undefined) return undefined
    const [{ route, handshakes }, params] = found
    const address = c.get('callerAddress')
    const refused = keeper.refusal(networkOf(address))
    if (refused === 'all' || (refused === 'address' && address !== BY_SOCKET_FILE))
      return sendError(c, TOO_MANY[refused])
    ask.response.detachSocket(ask.socket)
    handshakes.handleUpgrade(ask.request, ask.socket, ask.head, (socket) => {
      socket.on('error', () => {}) // `ws` closes a peer that violates the protocol, with the right code
      keeper.keep(socket, networkOf(address), ask.socket)
      const { searchParams: query } = new URL(c.req.url)
      accept(socket, route, { path: c.req.path, params: decoded(params), query, headers: ask.request.headers, address })
    })
    return new Response(null, { headers: { [ALREADY_SENT]: 'true' } })
  }

  function accept(socket: WebSocket, route: WebSocketRoute, request: WebSocketRequest): void {
    try {
      route.accept(socket, request)
    } catch (error) {
      options.log?.error({ path: route.path, err: error }, 'websocket failed')
      socket.close(1011)
    }
  }

  return {
    mount(app) {
      for (const { path } of routes) app.get(path, (c) => upgradeAnswer(c) ?? sendError(c, NOT_ASKED))
    },
    listen(server, listener) {
      server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
        socket.on('error', () => {}) // Node has removed its own listener by now
        const response = new ServerResponse(request)
        response.shouldKeepAlive = false
        try {
          response.assignSocket(socket)
        } catch {
          socket.destroy() // an upgrade in the middle of another response
          return
        }
        response.once('finish', () => socket.destroySoon())
        asking.set(request, (c) => answer(c, { request, socket, head, response }))
        listener(request, response)
      })
    },
    close: keeper.close,
  }
}

/** Decodes parameters as Hono does for its routes; an invalid escape stays as it is. */
function decoded(params: object): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, tryDecode(value, decodeURIComponent)]))
}

/** Other upgrades, such as to HTTP/2, are ignored, which RFC 9110, 7.8 permits. */
export const isForSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

/** The header that reports to Hono's adapter that the response was sent on the socket. */
const ALREADY_SENT = 'x-hono-already-sent'

const NOT_ASKED: HttpError = {
  kind: 'invalid',
  status: 426,
  message: 'This route needs a WebSocket: send an upgrade request',
  headers: { upgrade: 'websocket' },
}

const RETRY = { headers: { 'retry-after': '30' } }
const TOO_MANY: Readonly<Record<'address' | 'all', HttpError>> = {
  address: { kind: 'exhausted', message: 'Too many WebSockets are open from this address', ...RETRY },
  all: { kind: 'unavailable', message: 'Too many WebSockets are open', ...RETRY },
}

/**
 * Without compression, which costs memory per peer. A small compressed message could also expand to a very large one.
 */
const handshakes = (maxPayload: number): Handshakes =>
  new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload,
    WebSocket: CarefulSocket,
  })
