import { describe, expect, test } from 'vitest'
import { silentLog } from '../../../base/log.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { snippetError } from '../snippets/problem.ts'
import type { RateLimits } from './callers.ts'
import { TokenBuckets } from './callers.ts'
import { httpDoor } from './http-door.ts'

const HASH = 'a'.repeat(64)

function door(rates: RateLimits) {
  const clock = manualClock()
  const app = httpDoor({
    errorShapes: [snippetError],
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    metricsContentType: 'text/plain',
    allowedHosts: [],
    allowedOrigins: [],
    version: '1.2.3',
    log: silentLog,
    rates: { ...rates, clock },
  })
  app.get('/api/v1/tasks', (c) => c.json({ code: 0 }))
  app.get('/anything', (c) => c.json({}))
  app.get(`/team/cas/${HASH}`, (c) => c.text('blob'))
  const ask = (path: string, { from = '203.0.113.1', headers = {} }: { from?: string; headers?: object } = {}) =>
    app.request(
      `http://localhost${path}`,
      { headers: { host: 'localhost', ...headers } },
      { incoming: { socket: { remoteAddress: from } } },
    )
  const statuses = async (count: number, ...how: Parameters<typeof ask>) => {
    const all: number[] = []
    for (let i = 0; i < count; i++) all.push((await ask(...how)).status)
    return all
  }
  return { clock, ask, statuses }
}

const perAddress = { perSecond: 2, burst: 3 }

describe('limit per address', () => {
  test('an address has `burst` requests at once, then `perSecond`', async () => {
    const { clock, statuses } = door({ perAddress })
    expect(await statuses(4, '/anything')).toEqual([200, 200, 200, 429])
    clock.advance(499)
    expect(await statuses(1, '/anything')).toEqual([429])
    clock.advance(1)
    expect(await statuses(2, '/anything')).toEqual([200, 429])
    clock.advance(3_600_000)
    expect(await statuses(4, '/anything')).toEqual([200, 200, 200, 429])
  })

  test('addresses have separate limits, except IPv6 addresses of one /64 network', async () => {
    const { statuses } = door({ perAddress })
    await statuses(3, '/anything', { from: '2001:db8::1' })
    expect(await statuses(1, '/anything', { from: '2001:db8::2' })).toEqual([429])
    expect(await statuses(1, '/anything', { from: '2001:db8:0:1::1' })).toEqual([200])
  })

  test('429 has a retry time, in the error shape of the path', async () => {
    const { ask, statuses } = door({ perAddress: { perSecond: 0.1, burst: 1 } })
    await statuses(1, '/api/v1/tasks')
    const refused = await ask('/api/v1/tasks')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
    expect(await refused.json()).toEqual({
      code: 42901,
      message: 'Too many requests',
      detail: 'Too many requests from this address; slow down',
      retryAfter: 10,
    })
    expect(await (await ask('/anything')).json()).toEqual({
      error: { kind: 'exhausted', message: 'Too many requests from this address; slow down' },
    })
  })

  test('health, metrics and blobs are not limited', async () => {
    const { statuses } = door({ perAddress })
    await statuses(3, '/anything')
    for (const path of ['/healthz', '/readyz', '/metrics', `/team/cas/${HASH}`])
      expect(await statuses(2, path)).toEqual([200, 200])
    expect(await statuses(1, `/api/v1/tasks/cas/x`)).toEqual([429])
  })

  test('requests refused for their Origin do not count', async () => {
    const { statuses } = door({ perAddress })
    const foreign = { headers: { origin: 'https://evil.example' } }
    expect(await statuses(9, '/anything', foreign)).toEqual(Array(9).fill(403))
    expect(await statuses(1, '/anything')).toEqual([200])
  })
})

describe('limit per key', () => {
  const perKey = { perSecond: 1, burst: 2 }

  test.each(['authorization', 'x-api-key', 'x-auth-token'])(
    'a key in %s is limited across all addresses',
    async (name) => {
      const { statuses } = door({ perKey })
      const headers = { [name]: 'Bearer abc' }
      expect(await statuses(2, '/anything', { headers, from: '203.0.113.1' })).toEqual([200, 200])
      expect(await statuses(1, '/anything', { headers, from: '203.0.113.2' })).toEqual([429])
      expect(await statuses(1, '/anything', { headers: { [name]: 'Bearer other' } })).toEqual([200])
      expect(await statuses(5, '/anything')).toEqual(Array(5).fill(200))
    },
  )

  test('a new key for each request does not avoid the limit of its address', async () => {
    const { ask } = door({ perAddress, perKey })
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await ask('/anything', { headers: { authorization: `${i}` } })).status)
    expect(statuses).toEqual([200, 200, 200, 429])
  })
})

test('at most 20,000 buckets are kept', () => {
  const buckets = new TokenBuckets({ perSecond: 1, burst: 1 }, manualClock())
  for (let i = 0; i < 50_000; i++) buckets.take(`${i}`)
  expect(buckets.size).toBe(20_000)
  expect(buckets.take('49999')).toBe(1000)
})
