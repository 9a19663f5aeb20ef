/**
 * Limits for everything that a peer could make us store or do without end. The defaults are generous to real clients
 * (200 calls cancelled at once, keepalives every 10 s, a bandwidth probe per round trip) and small compared with
 * attacks, which send thousands of times more.
 */
export interface Http2Limits {
  /** Concurrent calls per connection; a cancelled call counts until its handler has ended. */
  readonly maxConcurrentStreams: number
  /** Bytes of a received gRPC message. */
  readonly maxMessageBytes: number
  /**
   * Bytes of a decoded header list, as defined for SETTINGS_MAX_HEADER_LIST_SIZE; also the limit of a compressed block.
   */
  readonly maxHeaderBytes: number
  readonly maxContinuationFrames: number
  /** The largest frame that we accept. */
  readonly maxFrameBytes: number
  /** The initial receive window of a stream; grows to `streamWindowBytes` for streams that are read. */
  readonly initialWindowBytes: number
  readonly streamWindowBytes: number
  readonly connectionWindowBytes: number
  /** Bytes received and not yet read by a handler, per connection and over all connections of a server. */
  readonly maxConnectionBufferedBytes: number
  readonly maxServerBufferedBytes: number
  /** Output of handlers that the peer has not read: above this, `write` returns "wait" and new calls are parked. */
  readonly streamPendingBytes: number
  readonly connectionPendingBytes: number
  /** Like `connectionPendingBytes`, including responses for which handlers have reserved space. */
  readonly connectionRoomBytes: number
  /** Bytes queued in a socket above which DATA frames are held back. */
  readonly socketBacklogBytes: number
  /** Bytes of control frames that the peer causes and does not read. Above this the connection is closed. */
  readonly maxControlBacklogBytes: number
  /** Rate limits against abuse: the burst, and the rate per second. */
  readonly resets: EventRate
  readonly pings: EventRate
  readonly settings: EventRate
  readonly emptyFrames: EventRate
  readonly priorities: EventRate
  /** The time from accepting a connection to its preface and first SETTINGS. */
  readonly handshakeMs: number
  /** The idle time after which we send a PING, and the time in which the peer must answer it. */
  readonly keepaliveMs: number
  readonly keepaliveTimeoutMs: number
  /** The time after which a stream is reset whose peer reads none of the queued output. */
  readonly stallMs: number
}

export interface EventRate {
  readonly burst: number
  readonly perSecond: number
}

const KiB = 1024
const MiB = 1024 * KiB

export const DEFAULT_LIMITS: Http2Limits = {
  maxConcurrentStreams: 1024,
  maxMessageBytes: 16 * MiB,
  maxHeaderBytes: 64 * KiB,
  maxContinuationFrames: 16,
  maxFrameBytes: 16 * KiB,
  initialWindowBytes: 256 * KiB,
  streamWindowBytes: 1 * MiB,
  connectionWindowBytes: 4 * MiB,
  maxConnectionBufferedBytes: 64 * MiB,
  maxServerBufferedBytes: 512 * MiB,
  streamPendingBytes: 512 * KiB,
  connectionPendingBytes: 1 * MiB,
  connectionRoomBytes: 2.5 * MiB,
  socketBacklogBytes: 256 * KiB,
  maxControlBacklogBytes: 1 * MiB,
  resets: { burst: 4096, perSecond: 200 },
  pings: { burst: 10_000, perSecond: 2_000 },
  settings: { burst: 100, perSecond: 10 },
  emptyFrames: { burst: 1_000, perSecond: 100 },
  priorities: { burst: 10_000, perSecond: 1_000 },
  handshakeMs: 10_000,
  keepaliveMs: 60_000,
  keepaliveTimeoutMs: 20_000,
  stallMs: 300_000,
}
