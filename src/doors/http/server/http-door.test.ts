import { describe, expect, test, vi } from 'vitest'
import { FaultError } from '../../../base/fault.ts'
import { silentLog } from '../../../base/log.ts'
import { type HttpDoorOptions, httpDoor } from './http-door.ts'
import type { HttpAnswered } from './http-meter.ts'

const door = (options: Partial<HttpDoorOptions> = {}) =>
  httpDoor({
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '# TYPE up gauge\nup 1\n',
    metricsContentType: 'text/plain; version=0.0.4; charset=utf-8',
    allowedHosts: [],
    allowedOrigins: [],
    version: '1.2.3',
    log: silentLog,
    ...options,
  })

const HOST = { host: 'localhost' }
const get = (app: ReturnType<typeof door>, path: string, headers: Record<string, string> = {}) =>
  app.request(path, { headers: { ...HOST, ...headers } })

describe('what anybody may ask', () => {
  test('the process lives', async () => {
    const answer = await get(door(), '/healthz')
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({ alive: true, version: '1.2.3' })
  })

  test('it is ready', async () => {
    const answer = await get(door(), '/readyz')
    expect([answer.status, await answer.json()]).toEqual([200, { ready: true, reasons: [] }])
  })

  test('it is not ready, and says why', async () => {
    const reasons = ['the journal is being read', 'no worker yet']
    const answer = await get(door({ readiness: () => ({ ready: false, reasons }) }), '/readyz')
    expect(answer.status).toBe(503)
    expect(await answer.json()).toEqual({
      ready: false,
      reasons,
      error: { kind: 'unavailable', message: 'Not ready: the journal is being read; no worker yet' },
    })
  })

  test('it is ready, and says what does not work yet', async () => {
    const warnings = ['not available yet: rust']
    const answer = await get(door({ readiness: () => ({ ready: true, reasons: [], warnings }) }), '/readyz')
    expect([answer.status, await answer.json()]).toEqual([200, { ready: true, reasons: [], warnings }])
  })

  test('its figures, as they are made', async () => {
    const answer = await get(door(), '/metrics')
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await answer.text()).toBe('# TYPE up gauge\nup 1\n')
  })

  test('HEAD tells what GET would, without the body', async () => {
    const answer = await door().request('/healthz', { method: 'HEAD', headers: HOST })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })
})

describe('the front page', () => {
  test('is JSON for programs', async () => {
    const answer = await get(door(), '/', { accept: '*/*' })
    expect(await answer.json()).toMatchObject({ name: 'windlass', version: '1.2.3', links: expect.any(Array) })
  })

  test('is a page for browsers, with a policy that lets nothing but its own style in', async () => {
    const answer = await get(door({ version: '<1>' }), '/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
    const page = await answer.text()
    expect(page).toContain('Windlass &#60;1&#62;')
    expect(page).toContain('href="/readyz"')
    const policy = answer.headers.get('content-security-policy')
    expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'.*style-src 'sha256-[\w+/]{43}='/)
  })
})

describe('every answer', () => {
  test.each(['/', '/healthz', '/readyz', '/metrics', '/nothing'])('of %s is sealed', async (path) => {
    const { headers } = await get(door(), path)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.get('cache-control')).toBe('no-store')
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('may loosen what its route says itself', async () => {
    const app = door()
    app.get('/logo', (c) => c.body('x', 200, { 'cache-control': 'max-age=60' }))
    expect((await get(app, '/logo')).headers.get('cache-control')).toBe('max-age=60')
  })
})

describe('errors', () => {
  test('an unknown path is absent', async () => {
    const answer = await get(door(), '/nothing')
    expect(answer.status).toBe(404)
    expect(await answer.json()).toEqual({ error: { kind: 'absent', message: 'There is nothing at /nothing' } })
  })

  test('a wrong method is told the right ones', async () => {
    const answer = await door().request('/healthz', { method: 'DELETE', headers: HOST })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect(await answer.json()).toEqual({
      error: { kind: 'invalid', message: 'DELETE is not for /healthz: use GET or HEAD' },
    })
  })

  test('OPTIONS lists the methods, and nothing for pages from elsewhere', async () => {
    const answer = await door().request('/healthz', { method: 'OPTIONS', headers: HOST })
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, HEAD'])
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('a fault is told by its kind', async () => {
    const app = door()
    app.get('/full', () => {
      throw new FaultError({ kind: 'unavailable', what: 'the disk is full' })
    })
    const answer = await get(app, '/full')
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { error: { kind: 'unavailable', message: 'the disk is full' } },
    ])
  })

  test('a bug is logged and not shown', async () => {
    const log = { ...silentLog, error: vi.fn() }
    const answer = await get(door({ log, metricsText: () => Promise.reject(new Error('secret')) }), '/metrics')
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain('secret')
    expect(log.error).toHaveBeenCalledWith(expect.objectContaining({ path: '/metrics' }), 'http request failed')
  })
})

test('requests are metered by route, whatever was asked for', async () => {
  const seen: HttpAnswered[] = []
  const app = door({ meter: { started: () => (answered) => seen.push(answered) } })
  app.get('/tasks/:id', (c) => c.json({ id: c.req.param('id') }))
  await get(app, '/tasks/7')
  await get(app, '/tasks/8/9')
  await app.request('/tasks/7', { method: 'PUT', headers: HOST })
  await get(app, '/tasks/7', { origin: 'https://evil.com' })
  expect(seen).toEqual([
    { route: '/tasks/:id', method: 'GET', status: 200 },
    { route: 'unmatched', method: 'GET', status: 404 },
    { route: 'unmatched', method: 'PUT', status: 405 },
    { route: '/tasks/:id', method: 'GET', status: 403 },
  ])
})

test('an origin or host that could never match is refused at the start', () => {
  expect(() => door({ allowedOrigins: ['null'] })).toThrow(/http\.allowed_origins/)
  expect(() => door({ allowedOrigins: ['https://ci.example.com/path'] })).toThrow(/http\.allowed_origins/)
  expect(() => door({ allowedHosts: ['*'] })).toThrow(/http\.allowed_hosts/)
})
