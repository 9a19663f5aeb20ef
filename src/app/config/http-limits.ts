import { z } from 'zod'
import { proxyList } from '../../doors/http/server/caller-address.ts'
import { HTTP_LIMITS, type HttpLimits } from '../../doors/http/server/listen.ts'
import type { RateLimits } from '../../doors/http/server/rate-limits.ts'
import { SOCKET_LIMITS, type SocketLimits } from '../../doors/http/server/socket-limits.ts'
import type { RequestRate } from '../../doors/http/server/token-bucket.ts'
import { configField, live } from './field.ts'

const count = (standard: number) => z.int().min(1).max(1_000_000_000).default(standard)
const rate = (standard: number) => z.number().min(0).max(1_000_000).default(standard)
const proxy = z.string().refine(isProxy, { error: 'expected an address, a subnet such as 10.0.0.0/8, or unix' })

function isProxy(text: string): boolean {
  try {
    proxyList([text])
    return true
  } catch {
    return false
  }
}

/** Limits for callers over HTTP and WebSocket, each against one kind of overuse; and the limits of an instance. */
export const limits = z
  .strictObject({
    max_body_bytes: live(count(8 * 1024 * 1024), 'The largest body of a request; blobs of the cache have their own.'),
    header_seconds: configField(
      z
        .number()
        .min(0.1)
        .max(3600)
        .default(HTTP_LIMITS.headersMs / 1000),
      'How long the headers of a request may take to arrive.',
    ),
    min_body_bytes_per_second: configField(
      rate(HTTP_LIMITS.bodyPace.bytesPerSecond),
      'A body that comes more slowly for 20 seconds is cut; 0 lets it take its time.',
    ),
    max_connections: configField(
      count(HTTP_LIMITS.connections),
      'HTTP connections at a time. Above it, health requests are answered and others get 429.',
    ),
    max_connections_per_address: configField(
      count(HTTP_LIMITS.connectionsPerAddress),
      'HTTP connections at a time from one address, or from one /64 of IPv6. Above it as above `max_connections`.',
    ),
    requests_per_second_per_address: live(
      rate(1000),
      'Requests that one address may make in the long run; 0 for no limit. Probes and the cache are free.',
    ),
    request_burst_per_address: live(count(5000), 'Requests that one address may make at once.'),
    requests_per_second_per_key: live(
      rate(1000),
      'Requests that one API key may make in the long run, from wherever; 0 for no limit.',
    ),
    request_burst_per_key: live(count(5000), 'Requests that one API key may make at once.'),
    max_websockets: configField(count(SOCKET_LIMITS.connections), 'WebSockets at a time.'),
    max_websockets_per_address: configField(
      count(SOCKET_LIMITS.connectionsPerAddress),
      'WebSockets at a time from one address, or from one /64 of IPv6.',
    ),
    max_websocket_message_bytes: configField(
      count(SOCKET_LIMITS.messageBytes),
      'The largest message taken on a WebSocket.',
    ),
    max_websocket_unread_bytes: configField(
      count(SOCKET_LIMITS.unreadBytes),
      'A WebSocket whose peer leaves more than this unread is cut.',
    ),
    websocket_messages_per_second: configField(
      rate(SOCKET_LIMITS.messages.perSecond).refine((perSecond) => perSecond > 0, { error: 'expected more than 0' }),
      'Messages read from one WebSocket in the long run, each 4 KiB counting as one; who sends more waits.',
    ),
    max_open_tasks_per_instance: configField(
      z.int().min(1).optional(),
      'Tasks of one instance that may wait or run; further ones are refused.',
      { otherwise: 'as many as the queue holds' },
    ),
    max_tasks_per_second_per_instance: configField(
      z.number().positive().optional(),
      'New tasks that one instance may submit in a second.',
      { otherwise: 'no limit' },
    ),
    trusted_proxies: configField(
      z.array(proxy).default([]),
      'Proxies whose X-Forwarded-For is believed: addresses, subnets, or unix for a socket file.',
    ),
  })
  .prefault({})

type Set = z.output<typeof limits>

export const httpLimits = (set: Set): Partial<HttpLimits> => ({
  headersMs: set.header_seconds * 1000,
  connections: set.max_connections,
  connectionsPerAddress: set.max_connections_per_address,
  bodyPace: { ...HTTP_LIMITS.bodyPace, bytesPerSecond: set.min_body_bytes_per_second },
})

export const socketLimits = (set: Set): Partial<SocketLimits> => ({
  connections: set.max_websockets,
  connectionsPerAddress: set.max_websockets_per_address,
  messageBytes: set.max_websocket_message_bytes,
  unreadBytes: set.max_websocket_unread_bytes,
  messages: {
    perSecond: set.websocket_messages_per_second,
    burst: Math.max(1, 2 * set.websocket_messages_per_second),
  },
})

const rateOf = (perSecond: number, burst: number): RequestRate | undefined =>
  perSecond === 0 ? undefined : { perSecond, burst }

export const callerRates = (set: Set): RateLimits => ({
  perAddress: rateOf(set.requests_per_second_per_address, set.request_burst_per_address),
  perKey: rateOf(set.requests_per_second_per_key, set.request_burst_per_key),
})

/** The limits of every instance, for the scheduler. */
export const instanceLimits = (set: Set): { readonly unfinished?: number; readonly perSecond?: number } => ({
  ...(set.max_open_tasks_per_instance !== undefined && { unfinished: set.max_open_tasks_per_instance }),
  ...(set.max_tasks_per_second_per_instance !== undefined && { perSecond: set.max_tasks_per_second_per_instance }),
})
