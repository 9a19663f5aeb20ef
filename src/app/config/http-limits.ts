import { z } from 'zod'
import type { RateLimits, RequestRate } from '../../doors/http/server/callers.ts'
import { HTTP_LIMITS, type HttpLimits } from '../../doors/http/server/listen.ts'
import { SOCKET_LIMITS, type SocketLimits } from '../../doors/http/server/socket-limits.ts'
import { proxyList } from '../../doors/http/server/trusted-proxies.ts'
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
    max_body_bytes: live(
      count(8 * 1024 * 1024),
      'Maximum size of a request body, in bytes. It does not apply to blobs of the HTTP cache.',
    ),
    header_seconds: configField(
      z
        .number()
        .min(0.1)
        .max(3600)
        .default(HTTP_LIMITS.headersMs / 1000),
      'Timeout for receiving the headers of a request, in seconds.',
    ),
    min_body_bytes_per_second: configField(
      rate(HTTP_LIMITS.bodyPace.bytesPerSecond),
      'Minimum bytes per second of a request body over 20 seconds; below it, the request fails. 0: no minimum.',
    ),
    max_connections: configField(
      count(HTTP_LIMITS.connections),
      'Maximum number of HTTP connections. Above it, only health requests are answered; others get status 429.',
    ),
    max_connections_per_address: configField(
      count(HTTP_LIMITS.connectionsPerAddress),
      'Maximum number of HTTP connections of one IPv4 address or IPv6 /64. Above it, the same as for max_connections.',
    ),
    requests_per_second_per_address: live(
      rate(1000),
      'Maximum average of requests per second of one address, without health and cache requests. 0: no limit.',
    ),
    request_burst_per_address: live(count(5000), 'Maximum burst of requests of one address, above the average rate.'),
    requests_per_second_per_key: live(
      rate(1000),
      'Maximum average of requests per second of one API key, over all addresses. 0: no limit.',
    ),
    request_burst_per_key: live(count(5000), 'Maximum burst of requests of one API key, above the average rate.'),
    max_websockets: configField(count(SOCKET_LIMITS.connections), 'Maximum number of open WebSockets.'),
    max_websockets_per_address: configField(
      count(SOCKET_LIMITS.connectionsPerAddress),
      'Maximum number of open WebSockets of one IPv4 address or IPv6 /64.',
    ),
    max_websocket_message_bytes: configField(
      count(SOCKET_LIMITS.messageBytes),
      'Maximum size of a message received on a WebSocket, in bytes.',
    ),
    max_websocket_unread_bytes: configField(
      count(SOCKET_LIMITS.unreadBytes),
      'Maximum number of sent bytes that the peer of a WebSocket has not read; above it, the WebSocket is closed.',
    ),
    websocket_messages_per_second: configField(
      rate(SOCKET_LIMITS.messages.perSecond).refine((perSecond) => perSecond > 0, { error: 'expected more than 0' }),
      'Maximum average of messages per second read from a WebSocket; each started 4 KiB counts as one message.',
    ),
    max_open_tasks_per_instance: configField(
      z.int().min(1).optional(),
      'Maximum number of queued and running tasks of one instance. Above it, the server rejects new tasks.',
      { otherwise: 'only max_queue_size applies' },
    ),
    max_tasks_per_second_per_instance: configField(
      z.number().positive().optional(),
      'Maximum number of new tasks per second of one instance. Above it, the server rejects new tasks.',
      { otherwise: 'no limit' },
    ),
    trusted_proxies: configField(
      z.array(proxy).default([]),
      'Proxies whose X-Forwarded-For header the server trusts: addresses, subnets, or unix for a socket file.',
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
