/**
 * The open connections of a server: which of them have a request in progress, for a clean shutdown, and which send the
 * body of a request slower than the minimum.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../../base/clock.ts'

export interface OpenConnections {
  isIdle(socket: Duplex): boolean
  /** Closes connections without a request in progress, now and whenever one becomes idle. */
  closeIdle(): void
  /** Closes all connections. */
  readonly cut: () => void
}

/**
 * Node's `closeIdleConnections` counts a connection that was never used as busy, and browsers open such connections
 * ahead.
 */
export function openConnections(server: Server, pace: BodyPace, clock: Clock): OpenConnections {
  /** With TLS, the keys are the encrypted sockets, which requests refer to; the raw sockets are only in `all`. */
  const inProgress = new Map<Duplex, number>()
  const all = new Set<Socket>()
  const watchBody = slowBodies(pace, clock)
  let isClosing = false

  const opened = (socket: Socket): void => {
    inProgress.set(socket, 0)
    socket.once('close', () => inProgress.delete(socket))
    if (isClosing) socket.destroy()
  }

  const count = (socket: Socket, change: number): void => {
    const requests = (inProgress.get(socket) ?? 0) + change
    if (inProgress.has(socket)) inProgress.set(socket, requests)
    if (isClosing && requests === 0) socket.destroySoon()
  }

  server.on('connection', (socket: Socket) => {
    all.add(socket)
    socket.once('close', () => all.delete(socket))
  })
  server.on('setSecureContext' in server ? 'secureConnection' : 'connection', opened)
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    count(socket, 1)
    if (isClosing) response.shouldKeepAlive = false
    response.once('close', () => count(socket, -1))
    if (hasBody(request)) watchBody?.(request)
  })
  // A connection that became a WebSocket counts as busy until it is closed.
  server.on('upgrade', ({ socket }: IncomingMessage) => count(socket, 1))

  return {
    isIdle: (socket) => inProgress.get(socket) === 0,
    closeIdle() {
      isClosing = true
      for (const [socket, requests] of inProgress) if (requests === 0) (socket as Socket).destroySoon()
    },
    cut() {
      for (const socket of all) socket.destroy()
    },
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

export interface BodyPace {
  /** The minimum rate of a body within each window; 0 for no minimum. */
  readonly bytesPerSecond: number
  readonly windowMs: number
}

interface Watched {
  since: number
  bytes: number
}

/**
 * Closes the connection of a body that arrives slower than the minimum. Bytes that wait for the server to read them do
 * not count as slow: only a body whose received bytes were all read counts.
 */
function slowBodies({ bytesPerSecond, windowMs }: BodyPace, clock: Clock) {
  if (bytesPerSecond === 0) return undefined
  const watched = new Map<IncomingMessage, Watched>()
  let isDue = false

  function checkAll(): void {
    isDue = false
    const now = clock.monotonic()
    for (const [request, seen] of watched) {
      if (request.complete || request.destroyed) watched.delete(request)
      else if (now - seen.since >= windowMs) check(request, seen, now)
    }
    schedule()
  }

  function check(request: IncomingMessage, seen: Watched, now: number): void {
    const { socket, readableLength } = request
    const received = socket.bytesRead - seen.bytes
    if (readableLength === 0 && received < (bytesPerSecond * (now - seen.since)) / 1000) socket.destroy()
    seen.since = now
    seen.bytes = socket.bytesRead
  }

  function schedule(): void {
    if (isDue || watched.size === 0) return
    isDue = true
    clock.after(windowMs / 4, checkAll)
  }

  return (request: IncomingMessage): void => {
    watched.set(request, { since: clock.monotonic(), bytes: request.socket.bytesRead })
    request.once('close', () => watched.delete(request))
    schedule()
  }
}
