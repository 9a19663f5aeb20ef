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

describe('health and metrics', () => {
  test('/healthz answers 200 with the version', async () => {
    const answer = await get(door(), '/healthz')
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({ alive: true, version: '1.2.3' })
  })

  test('/readyz answers 200 when the server is ready', async () => {
    const answer = await get(door(), '/readyz')
    expect([answer.status, await answer.json()]).toEqual([200, { ready: true, reasons: [] }])
  })

  test('/readyz answers 503 with the reasons when the server is not ready', async () => {
    const reasons = ['the journal is being read', 'no worker yet']
    const answer = await get(door({ readiness: () => ({ ready: false, reasons }) }), '/readyz')
    expect(answer.status).toBe(503)
    expect(await answer.json()).toEqual({
      ready: false,
      reasons,
      error: { kind: 'unavailable', message: 'Not ready: the journal is being read; no worker yet' },
    })
  })

  test('/readyz answers 200 with warnings', async () => {
    const warnings = ['not available yet: rust']
    const answer = await get(door({ readiness: () => ({ ready: true, reasons: [], warnings }) }), '/readyz')
    expect([answer.status, await answer.json()]).toEqual([200, { ready: true, reasons: [], warnings }])
  })

  test('/metrics returns the text of the meter', async () => {
    const answer = await get(door(), '/metrics')
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(await answer.text()).toBe('# TYPE up gauge\nup 1\n')
  })

  test('HEAD returns the status of GET, without a body', async () => {
    const answer = await door().request('/healthz', { method: 'HEAD', headers: HOST })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })
})

describe('front page', () => {
  test('a program gets JSON', async () => {
    const answer = await get(door(), '/', { accept: '*/*' })
    expect(await answer.json()).toMatchObject({ name: 'windlass', version: '1.2.3', links: expect.any(Array) })
  })

  test('a browser gets HTML, with a policy that allows only its own style', async () => {
    const answer = await get(door({ version: '<1>' }), '/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
    const page = await answer.text()
    expect(page).toContain('Windlass &#60;1&#62;')
    expect(page).toContain('href="/readyz"')
    const policy = answer.headers.get('content-security-policy')
    expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'.*style-src 'sha256-[\w+/]{43}='/)
  })
})

describe('security headers', () => {
  test.each(['/', '/healthz', '/readyz', '/metrics', '/nothing'])(
    'a response of %s has all security headers',
    async (path) => {
      const { headers } = await get(door(), path)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
      expect(headers.get('cache-control')).toBe('no-store')
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    },
  )

  test('a route may set its own cache-control', async () => {
    const app = door()
    app.get('/logo', (c) => c.body('x', 200, { 'cache-control': 'max-age=60' }))
    expect((await get(app, '/logo')).headers.get('cache-control')).toBe('max-age=60')
  })
})

describe('errors', () => {
  test('an unknown path is 404', async () => {
    const answer = await get(door(), '/nothing')
    expect(answer.status).toBe(404)
    expect(await answer.json()).toEqual({ error: { kind: 'absent', message: 'No page or route at /nothing' } })
  })

  test('a wrong method is 405, with the allowed methods', async () => {
    const answer = await door().request('/healthz', { method: 'DELETE', headers: HOST })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect(await answer.json()).toEqual({
      error: { kind: 'invalid', message: 'DELETE is not supported for /healthz: use GET or HEAD' },
    })
  })

  test('OPTIONS lists the methods, without CORS headers', async () => {
    const answer = await door().request('/healthz', { method: 'OPTIONS', headers: HOST })
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, HEAD'])
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('a fault has the status of its kind', async () => {
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

  test('an unexpected error is logged, and its message is not sent', async () => {
    const log = { ...silentLog, error: vi.fn() }
    const answer = await get(door({ log, metricsText: () => Promise.reject(new Error('secret')) }), '/metrics')
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain('secret')
    expect(log.error).toHaveBeenCalledWith(expect.objectContaining({ path: '/metrics' }), 'http request failed')
  })
})

test('requests are metered by route', async () => {
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

test('an allowed origin or host that can never match throws at the start', () => {
  expect(() => door({ allowedOrigins: ['null'] })).toThrow(/http\.allowed_origins/)
  expect(() => door({ allowedOrigins: ['https://ci.example.com/path'] })).toThrow(/http\.allowed_origins/)
  expect(() => door({ allowedHosts: ['*'] })).toThrow(/http\.allowed_hosts/)
})
