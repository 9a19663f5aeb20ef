import type { RequestRate } from './token-bucket.ts'

/** Limits of WebSocket peers: each stands against a way of holding a server with almost nothing. */
export interface SocketLimits {
  /** Open at a time, over all routes. */
  readonly connections: number
  readonly connectionsPerAddress: number
  /** Limit of one message, unless the route sets its own. */
  readonly messageBytes: number
  /** Sent and not yet read: a peer that lets more pile up is cut. */
  readonly unreadBytes: number
  /** Limit of incomplete messages over all peers: beyond it, the peer with the most bytes is disconnected. */
  readonly unfinishedBytes: number
  /** One that sends more is read more slowly. Every 4 KiB of a message count as one. */
  readonly messages: RequestRate
  /** How often a peer is asked for a sign of life; one that gives none until the next is cut. */
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
