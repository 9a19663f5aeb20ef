import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface OpenConnections {
  isIdle(socket: Duplex): boolean
  /** Ends those that have no request in hand, now and whenever one gets there. */
  endIdle(): void
  /** Ends all. */
  readonly cut: () => void
}

/**
 * Knows which connections have a request in hand. Node's own `closeIdleConnections` takes one that was opened and
 * never used for busy, which is just what browsers do ahead of time: a stopping server would wait for those.
 */
export function openConnections(server: Server): OpenConnections {
  /** With TLS these are the encrypted sockets, which requests name, and the raw ones stand only in `all`. */
  const inHand = new Map<Duplex, number>()
  const all = new Set<Socket>()
  let ending = false

  const opened = (socket: Socket): void => {
    inHand.set(socket, 0)
    socket.once('close', () => inHand.delete(socket))
    if (ending) socket.destroy()
  }

  const settle = (socket: Socket, change: number): void => {
    const requests = (inHand.get(socket) ?? 0) + change
    if (inHand.has(socket)) inHand.set(socket, requests)
    if (ending && requests === 0) socket.destroySoon()
  }

  server.on('connection', (socket: Socket) => {
    all.add(socket)
    socket.once('close', () => all.delete(socket))
  })
  server.on('setSecureContext' in server ? 'secureConnection' : 'connection', opened)
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    settle(socket, 1)
    if (ending) response.shouldKeepAlive = false
    response.once('close', () => settle(socket, -1))
  })
  // A connection that became a WebSocket counts as busy until it is closed.
  server.on('upgrade', ({ socket }: IncomingMessage) => settle(socket, 1))

  return {
    isIdle: (socket) => inHand.get(socket) === 0,
    endIdle() {
      ending = true
      for (const [socket, requests] of inHand) if (requests === 0) (socket as Socket).destroySoon()
    },
    cut() {
      for (const socket of all) socket.destroy()
    },
  }
}
