import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { MiddlewareHandler } from 'hono'
import { networkOf, plainAddress } from './caller-address.ts'
import { type HttpError, sendError } from './http-error.ts'

/** Which cap a connection is above. */
type Cap = 'address' | 'all'

export interface ConnectionCaps {
  readonly connections: number
  /** Does not apply to proxies: they have the connections of many callers. */
  readonly connectionsPerAddress: number
  /** Connections above a cap that the server still reads one request from. */
  readonly connectionsAbove: number
}

/** By the socket that requests name: with TLS, the encrypted one. */
const above = new WeakMap<object, Cap>()

/**
 * A connection above a cap is accepted for one request, so that its caller gets an answer: health requests theirs, all
 * others 429. Of those that have sent nothing yet the oldest is closed for a new one. A flood of silent connections
 * therefore cannot keep out a probe, which speaks as soon as it is connected. Further connections are closed unread.
 */
export function capConnections(server: Server, caps: ConnectionCaps, isProxy: (address: string) => boolean): void {
  const perAddress = new Map<string, number>()
  const extra = new Map<string, Socket>()
  const silent = new Set<Socket>()
  let within = 0
  let unnamed = 0

  const exceeded = (whose: string | undefined): Cap | undefined => {
    if (within >= caps.connections) return 'all'
    return whose !== undefined && (perAddress.get(whose) ?? 0) >= caps.connectionsPerAddress ? 'address' : undefined
  }

  const addExtra = (socket: Socket, cap: Cap): void => {
    const [oldest] = silent
    if (extra.size >= caps.connectionsAbove) {
      if (oldest === undefined) {
        socket.destroy()
        return
      }
      silent.delete(oldest)
      oldest.destroy()
    }
    const key = nameOf(socket) ?? `unnamed ${unnamed++}`
    extra.set(key, socket)
    silent.add(socket)
    above.set(socket, cap)
    socket.once('close', () => {
      silent.delete(socket)
      if (extra.get(key) === socket) extra.delete(key)
    })
  }

  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress && plainAddress(socket.remoteAddress)
    const whose = address === undefined || isProxy(address) ? undefined : networkOf(address)
    const cap = exceeded(whose)
    if (cap !== undefined) return addExtra(socket, cap)
    within++
    if (whose !== undefined) changeCount(perAddress, whose, 1)
    socket.once('close', () => {
      within--
      if (whose !== undefined) changeCount(perAddress, whose, -1)
    })
  })

  /** With TLS a request names another socket than the one that was accepted. */
  const spoke = ({ socket }: IncomingMessage): void => {
    const raw = above.has(socket) ? socket : extra.get(nameOf(socket) ?? '')
    if (raw === undefined) return
    silent.delete(raw)
    above.set(socket, above.get(raw) ?? 'all')
  }
  server.prependListener('request', spoke)
  server.prependListener('upgrade', spoke)
}

function changeCount(counts: Map<string, number>, name: string, change: number): void {
  const now = (counts.get(name) ?? 0) + change
  if (now === 0) counts.delete(name)
  else counts.set(name, now)
}

const nameOf = ({ remoteAddress, remotePort }: Socket): string | undefined =>
  remoteAddress === undefined || remotePort === undefined ? undefined : `${remoteAddress} ${remotePort}`

const HEALTH = new Set(['/healthz', '/readyz'])

/** Answers requests on connections above a cap, and has these connections closed after the answer. */
export const refusingAboveCap: MiddlewareHandler = async (c, next) => {
  const { incoming } = (c.env ?? {}) as { incoming?: IncomingMessage }
  const cap = incoming && above.get(incoming.socket)
  if (cap === undefined) return next()
  if (!HEALTH.has(c.req.path)) return sendError(c, TOO_MANY[cap])
  await next()
  c.res.headers.set('connection', 'close')
}

const RETRY = { 'retry-after': '5', connection: 'close' }
const TOO_MANY: Readonly<Record<Cap, HttpError>> = {
  address: {
    kind: 'exhausted',
    message: 'Too many connections from this address (limits.max_connections_per_address); close some, or retry later',
    headers: RETRY,
  },
  all: {
    kind: 'exhausted',
    message: 'Too many connections to this server (limits.max_connections); retry later',
    headers: RETRY,
  },
}
