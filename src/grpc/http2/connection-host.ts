import type { Duplex } from 'node:stream'
import type { HeaderList } from '../hpack/header-field.ts'
import type { Http2Limits } from './limits.ts'
import type { Stranger } from './stranger.ts'
import type { Http2Stream } from './stream.ts'
import type { Timing } from './timing.ts'

/** The owner of a connection: its settings and its callbacks. */
export interface ConnectionHost {
  /** Bytes received by all connections and not yet read, and the most allowed. */
  readonly budget: { used: number; readonly most: number }
  /** Server: a request has arrived. Its head is in `list.understood`. */
  onStream(stream: Http2Stream, list: HeaderList, endStream: boolean): void
  /** The peer's settings have changed. */
  onPeerSettings(): void
  /** Client: the server accepts no more streams above `lastStream`. */
  onGoaway(lastStream: number, code: number): void
  /** A stream has ended on both sides or was reset. */
  onStreamGone(stream: Http2Stream): void
  /** Whether calls wait because too much output is queued. `onRoom` is called when it was sent. */
  readonly hasParked: boolean
  onRoom(): void
  onClosed(end: ConnectionEnd): void
  /** Server: the response to an HTTP/1.1 client before the connection is closed. */
  readonly http1Answer?: string | undefined
}

export interface ConnectionOptions {
  readonly socket: Duplex
  readonly role: 'server' | 'client'
  readonly limits: Http2Limits
  readonly timing: Timing
  readonly host: ConnectionHost
}

export interface ConnectionEnd {
  /** The HTTP/2 error code that we or the peer sent; 0 is an orderly end. */
  readonly code: number
  readonly reason: string
  /** Set when the connection was closed for abuse: the name of the limit that was exceeded. */
  readonly flood?: string
  /** Set when the peer uses another protocol. */
  readonly stranger?: Stranger
}
