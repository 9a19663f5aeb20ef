import type { RequestRate } from './callers.ts'

/** Limits of WebSocket peers. Each prevents a way to block a server with little effort. */
export interface SocketLimits {
  /** The maximum number of open sockets over all routes. */
  readonly connections: number
  readonly connectionsPerAddress: number
  /** Limit of one message, unless the route sets its own. */
  readonly messageBytes: number
  /** The maximum number of sent and unread bytes; a peer that exceeds it is disconnected. */
  readonly unreadBytes: number
  /** Limit of incomplete messages over all peers: beyond it, the peer with the most bytes is disconnected. */
  readonly unfinishedBytes: number
  /** A peer that sends more is read more slowly. Each 4 KiB of a message count as one message. */
  readonly messages: RequestRate
  /** The interval of pings. A peer that does not answer until the next ping is disconnected. */
  readonly pingMs: number
}

export const SOCKET_LIMITS: SocketLimits = {
  connections: 5_000,
  connectionsPerAddress: 500,
  messageBytes: 8 * 1024 * 1024,
  unreadBytes: 16 * 1024 * 1024,
  unfinishedBytes: 512 * 1024 * 1024,
  messages: { perSecond: 2_000, burst: 4_000 },
  pingMs: 20_000,
}
