import type { IncomingMessage, Server } from 'node:http'
import type { Clock } from '../../../base/clock.ts'

export interface BodyPace {
  /** The least that a body must come by; 0 for no such rule. */
  readonly bytesPerSecond: number
  /** Over so long. */
  readonly windowMs: number
}

interface Watched {
  since: number
  bytes: number
}

/**
 * Closes a connection whose body arrives slower than the minimum. Bytes that wait for the server to read them do not
 * count as slow: only a body whose received bytes were all read counts.
 */
export function cutSlowBodies(server: Server, { bytesPerSecond, windowMs }: BodyPace, clock: Clock): void {
  if (bytesPerSecond === 0) return
  const watched = new Map<IncomingMessage, Watched>()
  let isDue = false

  function look(): void {
    isDue = false
    const now = clock.monotonic()
    for (const [request, seen] of watched) {
      if (request.complete || request.destroyed) watched.delete(request)
      else if (now - seen.since >= windowMs) judge(request, seen, now)
    }
    plan()
  }

  function judge(request: IncomingMessage, seen: Watched, now: number): void {
    const { socket, readableLength } = request
    const came = socket.bytesRead - seen.bytes
    if (readableLength === 0 && came < (bytesPerSecond * (now - seen.since)) / 1000) socket.destroy()
    seen.since = now
    seen.bytes = socket.bytesRead
  }

  function plan(): void {
    if (isDue || watched.size === 0) return
    isDue = true
    clock.after(windowMs / 4, look)
  }

  server.on('request', (request: IncomingMessage) => {
    if (!hasBody(request)) return
    watched.set(request, { since: clock.monotonic(), bytes: request.socket.bytesRead })
    request.once('close', () => watched.delete(request))
    plan()
  })
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
