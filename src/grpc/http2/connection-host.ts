import type { Duplex } from 'node:stream'
import type { HeaderList } from '../hpack/header-field.ts'
import type { Http2Limits } from './limits.ts'
import type { Stranger } from './stranger.ts'
import type { Http2Stream } from './stream.ts'
import type { Timing } from './timing.ts'

/** The owner of a connection: its settings and its callbacks. */
export interface ConnectionHost {
  /** Bytes received by all connections and not yet taken, and the most allowed. */
  readonly budget: { used: number; readonly most: number }
  /** Server: a request has arrived. Its head is in `list.understood`. */
  onStream(stream: Http2Stream, list: HeaderList, endStream: boolean): void
  /** The peer's settings have changed. */
  onPeerSettings(): void
  /** Client: the server takes no streams above `lastStream` any more. */
  onGoaway(lastStream: number, code: number): void
  /** A stream has ended on both sides or was reset. */
  onStreamGone(stream: Http2Stream): void
  /** Calls wait because too much output is queued; `onRoom` is called when it has drained. */
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
  /** HTTP/2 error code we or the peer gave; 0 is an orderly end. */
  readonly code: number
  readonly reason: string
  /** Set when the connection was cut for abuse: the name of the cap that it passed. */
  readonly flood?: string
  /** Set when the peer uses another protocol. */
  readonly stranger?: Stranger
}
