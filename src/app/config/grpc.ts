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
      'Maximum size of a received message, in bytes.',
    ),
    max_header_bytes: configField(
      count(DEFAULT_LIMITS.maxHeaderBytes, 1024),
      'Maximum size of the metadata of a call, in bytes.',
    ),
    max_concurrent_streams: configField(
      count(DEFAULT_LIMITS.maxConcurrentStreams),
      'Maximum number of concurrent calls of one connection.',
    ),
    initial_window_bytes: configField(
      count(DEFAULT_LIMITS.initialWindowBytes, 65_535),
      'Initial HTTP/2 flow-control window of a call, in bytes (SETTINGS_INITIAL_WINDOW_SIZE).',
    ),
    stream_window_bytes: configField(
      count(DEFAULT_LIMITS.streamWindowBytes, 65_535),
      'HTTP/2 flow-control window of a call that the server reads, in bytes.',
    ),
    connection_window_bytes: configField(
      count(DEFAULT_LIMITS.connectionWindowBytes, 65_535),
      'HTTP/2 flow-control window of a connection, in bytes.',
    ),
    max_connection_buffered_bytes: configField(
      count(DEFAULT_LIMITS.maxConnectionBufferedBytes, 65_535),
      'Maximum number of received, unprocessed bytes per connection.',
    ),
    max_server_buffered_bytes: configField(
      z.int().min(65_535).default(DEFAULT_LIMITS.maxServerBufferedBytes),
      'Maximum number of received, unprocessed bytes of all connections.',
    ),
    max_resets_per_second: configField(
      count(DEFAULT_LIMITS.resets.perSecond),
      'Maximum average of cancelled calls per second of one connection; above it, the connection is closed.',
    ),
    max_pings_per_second: configField(
      count(DEFAULT_LIMITS.pings.perSecond),
      'Maximum average of pings per second of one connection; above it, the connection is closed.',
    ),
    handshake_seconds: configField(
      seconds(DEFAULT_LIMITS.handshakeMs),
      'Timeout for the HTTP/2 preface and settings of a new connection, in seconds.',
    ),
    keepalive_seconds: configField(
      seconds(DEFAULT_LIMITS.keepaliveMs),
      'Idle seconds of a connection after which the server sends a ping.',
    ),
    keepalive_timeout_seconds: configField(
      seconds(DEFAULT_LIMITS.keepaliveTimeoutMs),
      'Seconds to wait for the answer to this ping; then the connection is closed.',
    ),
    stall_seconds: configField(
      seconds(DEFAULT_LIMITS.stallMs),
      'A call is cancelled when its client reads none of the response for this number of seconds.',
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
