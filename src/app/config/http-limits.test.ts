import { describe, expect, test } from 'vitest'
import { HTTP_LIMITS } from '../../doors/http/server/listen.ts'
import { SOCKET_LIMITS } from '../../doors/http/server/socket-limits.ts'
import { callerRates, httpLimits, instanceLimits, limits, socketLimits } from './http-limits.ts'

const set = (wish: object) => limits.parse(wish)

test('empty [limits] give the defaults of each part', () => {
  expect({ ...HTTP_LIMITS, ...httpLimits(set({})) }).toEqual(HTTP_LIMITS)
  expect({ ...SOCKET_LIMITS, ...socketLimits(set({})) }).toEqual(SOCKET_LIMITS)
  expect(instanceLimits(set({}))).toEqual({})
  expect(callerRates(set({}))).toEqual({
    perAddress: { perSecond: 1000, burst: 5000 },
    perKey: { perSecond: 1000, burst: 5000 },
  })
})

test('each setting reaches its part', () => {
  const wish = set({
    header_seconds: 2.5,
    max_connections: 7,
    max_connections_per_address: 3,
    min_body_bytes_per_second: 9,
    max_websockets: 5,
    max_websockets_per_address: 2,
    max_websocket_message_bytes: 100,
    max_websocket_unread_bytes: 200,
    websocket_messages_per_second: 0.25,
    requests_per_second_per_address: 4,
    request_burst_per_address: 6,
    max_open_tasks_per_instance: 11,
    max_tasks_per_second_per_instance: 0.5,
  })
  expect(httpLimits(wish)).toEqual({
    headersMs: 2500,
    connections: 7,
    connectionsPerAddress: 3,
    bodyPace: { bytesPerSecond: 9, windowMs: 20_000 },
  })
  expect(socketLimits(wish)).toEqual({
    connections: 5,
    connectionsPerAddress: 2,
    messageBytes: 100,
    unreadBytes: 200,
    messages: { perSecond: 0.25, burst: 1 },
  })
  expect(callerRates(wish).perAddress).toEqual({ perSecond: 4, burst: 6 })
  expect(instanceLimits(wish)).toEqual({ unfinished: 11, perSecond: 0.5 })
})

describe('rate of 0', () => {
  test('requests are not limited', () => {
    const wish = set({ requests_per_second_per_address: 0, requests_per_second_per_key: 0 })
    expect(callerRates(wish)).toEqual({ perAddress: undefined, perKey: undefined })
  })

  test('0 WebSocket messages per second are refused, because none would be read', () => {
    expect(() => set({ websocket_messages_per_second: 0 })).toThrow('more than 0')
  })
})

test.each(['proxy.example.com', '10.0.0.0/40', ''])('"%s" is refused as a proxy', (proxy) => {
  expect(() => set({ trusted_proxies: [proxy] })).toThrow('expected an address')
})
