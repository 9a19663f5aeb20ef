import { z } from 'zod'
import { DEFAULT_LIMITS, type EventRate, type Http2Limits } from '../../grpc/http2/limits.ts'
import { configField } from './field.ts'

const LARGEST_WINDOW = 2 ** 31 - 1

const count = (standard: number, least = 1) => z.int().min(least).max(LARGEST_WINDOW).default(standard)
const seconds = (standardMs: number) =>
  z
    .number()
    .min(0.1)
    .max(86_400)
    .default(standardMs / 1000)

/** The limits that operators may need to change; the server has a few more internal ones. */
export const grpc = z
  .strictObject({
    max_message_bytes: configField(
      count(DEFAULT_LIMITS.maxMessageBytes, 1024),
      'The largest message taken from a caller.',
    ),
    max_header_bytes: configField(
      count(DEFAULT_LIMITS.maxHeaderBytes, 1024),
      "The most a call's metadata may come to.",
    ),
    max_concurrent_streams: configField(
      count(DEFAULT_LIMITS.maxConcurrentStreams),
      'Calls that one connection may have under way.',
    ),
    initial_window_bytes: configField(
      count(DEFAULT_LIMITS.initialWindowBytes, 65_535),
      'What a caller may send on a call before the server has answered anything.',
    ),
    stream_window_bytes: configField(
      count(DEFAULT_LIMITS.streamWindowBytes, 65_535),
      'What a caller may send ahead on a call that is being read.',
    ),
    connection_window_bytes: configField(
      count(DEFAULT_LIMITS.connectionWindowBytes, 65_535),
      'What a caller may send ahead on a connection, over all its calls.',
    ),
    max_connection_buffered_bytes: configField(
      count(DEFAULT_LIMITS.maxConnectionBufferedBytes, 65_535),
      'Received and not yet handled, over one connection.',
    ),
    max_server_buffered_bytes: configField(
      z.int().min(65_535).default(DEFAULT_LIMITS.maxServerBufferedBytes),
      'Received and not yet handled, over all connections.',
    ),
    max_resets_per_second: configField(
      count(DEFAULT_LIMITS.resets.perSecond),
      'Calls that a connection may cancel per second in the long run; more is taken for an attack.',
    ),
    max_pings_per_second: configField(
      count(DEFAULT_LIMITS.pings.perSecond),
      'Pings that a connection may send per second in the long run; more is taken for an attack.',
    ),
    handshake_seconds: configField(
      seconds(DEFAULT_LIMITS.handshakeMs),
      'How long a new connection may take to say hello.',
    ),
    keepalive_seconds: configField(
      seconds(DEFAULT_LIMITS.keepaliveMs),
      'Silence after which a caller is asked for a sign of life.',
    ),
    keepalive_timeout_seconds: configField(
      seconds(DEFAULT_LIMITS.keepaliveTimeoutMs),
      'How long it may take to give one before the connection is closed.',
    ),
    stall_seconds: configField(
      seconds(DEFAULT_LIMITS.stallMs),
      'A call whose caller takes nothing of its answer for so long is ended.',
    ),
  })
  .prefault({})

export function grpcLimits(set: z.output<typeof grpc>): Http2Limits {
  return {
    ...DEFAULT_LIMITS,
    maxMessageBytes: set.max_message_bytes,
    maxHeaderBytes: set.max_header_bytes,
    maxConcurrentStreams: set.max_concurrent_streams,
    initialWindowBytes: set.initial_window_bytes,
    streamWindowBytes: set.stream_window_bytes,
    connectionWindowBytes: set.connection_window_bytes,
    maxConnectionBufferedBytes: set.max_connection_buffered_bytes,
    maxServerBufferedBytes: set.max_server_buffered_bytes,
    resets: atMost(DEFAULT_LIMITS.resets, set.max_resets_per_second),
    pings: atMost(DEFAULT_LIMITS.pings, set.max_pings_per_second),
    handshakeMs: set.handshake_seconds * 1000,
    keepaliveMs: set.keepalive_seconds * 1000,
    keepaliveTimeoutMs: set.keepalive_timeout_seconds * 1000,
    stallMs: set.stall_seconds * 1000,
  }
}

/** A higher rate needs a burst that admits one second of it. */
const atMost = (standard: EventRate, perSecond: number): EventRate => ({
  burst: Math.max(standard.burst, perSecond),
  perSecond,
})
