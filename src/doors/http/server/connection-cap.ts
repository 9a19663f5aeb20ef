import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf, plainAddress } from './callers.ts'
import type { HttpError } from './http-error.ts'

/** The cap that a connection exceeds. */
type Cap = 'address' | 'all'

export interface ConnectionCaps {
  readonly connections: number
  /** Does not apply to trusted proxies, which forward requests of many callers. */
  readonly connectionsPerAddress: number
  /** Connections above a cap that the server still reads one request from. */
  readonly connectionsAbove: number
}

/** By the socket that requests refer to: with TLS, the encrypted one. */
export const socketsAboveCap = new WeakMap<object, Cap>()

/** Counts open connections, in all and per network, and lets those above a cap send one request. */
export function capConnections(server: Server, caps: ConnectionCaps, isProxy: (address: string) => boolean): void {
  const perNetwork = new Map<string, number>()
  const addExtra = extraConnections(server, caps.connectionsAbove)
  let within = 0

  const exceeded = (address: string | undefined, network: string): Cap | undefined => {
    if (within >= caps.connections) return 'all'
    const isAbove = address !== undefined && (perNetwork.get(network) ?? 0) >= caps.connectionsPerAddress
    return isAbove && !isProxy(address) ? 'address' : undefined
  }

  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress && plainAddress(socket.remoteAddress)
    const network = address === undefined ? '' : networkOf(address)
    const cap = exceeded(address, network)
    if (cap !== undefined) return addExtra(socket, cap)
    within++
    changeCount(perNetwork, network, 1)
    socket.once('close', () => {
      within--
      changeCount(perNetwork, network, -1)
    })
  })
}

/**
 * The server accepts a connection above a cap for one request, so that its caller gets a response: health requests
 * theirs, all others 429. A new connection replaces the oldest one that has sent nothing yet. A flood of silent
 * connections therefore cannot keep out a probe, which sends its request at once. Further connections are closed
 * unread.
 */
function extraConnections(server: Server, most: number): (socket: Socket, cap: Cap) => void {
  const extra = new Map<string, Socket>()
  const silent = new Set<Socket>()
  let unnamed = 0

  /** With TLS, a request refers to another socket than the one that was accepted. */
  const requested = ({ socket }: IncomingMessage): void => {
    const raw = socketsAboveCap.has(socket) ? socket : extra.get(nameOf(socket) ?? '')
    if (raw === undefined) return
    silent.delete(raw)
    socketsAboveCap.set(socket, socketsAboveCap.get(raw) ?? 'all')
  }
  /** Requests matter here only while there are extra connections. */
  const watchRequests = (): void => {
    for (const event of ['request', 'upgrade']) {
      server.off(event, requested)
      if (extra.size > 0) server.prependListener(event, requested)
    }
  }

  return (socket, cap) => {
    if (extra.size >= most) {
      const [oldest] = silent
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
    socketsAboveCap.set(socket, cap)
    watchRequests()
    socket.once('close', () => {
      silent.delete(socket)
      if (extra.get(key) === socket) extra.delete(key)
      watchRequests()
    })
  }
}

function changeCount(counts: Map<string, number>, name: string, change: number): void {
  const now = (counts.get(name) ?? 0) + change
  if (now === 0) counts.delete(name)
  else counts.set(name, now)
}

const nameOf = ({ remoteAddress, remotePort }: Socket): string | undefined =>
  remoteAddress === undefined || remotePort === undefined ? undefined : `${remoteAddress} ${remotePort}`

const RETRY = { 'retry-after': '5', connection: 'close' }
/** The refusals of requests on connections above a cap. */
export const TOO_MANY_CONNECTIONS: Readonly<Record<Cap, HttpError>> = {
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
