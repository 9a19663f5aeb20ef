import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLog } from '../../../base/log.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { askRaw } from '../../../testing/raw-http.ts'
import { httpDoor } from './http-door.ts'
import { type HttpListener, listenHttp } from './listen.ts'

let server: HttpListener
beforeAll(async () => {
  const app = httpDoor({
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => 'up 1\n',
    metricsContentType: 'text/plain',
    allowedHosts: ['grid.example.com', 'proxy.example.com:8443', 'fd00::7'],
    allowedOrigins: ['https://ci.example.com'],
    version: '1.2.3',
    log: silentLog,
  })
  server = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock: manualClock() })
})
afterAll(() => server.close(0))

const get = (...headers: string[]) => askRaw(server.address, ['GET /healthz HTTP/1.1', 'Connection: close', ...headers])
const target = (line: string, ...headers: string[]) => askRaw(server.address, [line, 'Connection: close', ...headers])

describe('Host header', () => {
  test.each([
    'localhost',
    'localhost:1',
    'LOCALHOST:8080',
    '127.0.0.1',
    '127.9.8.7:8080',
    '[::1]',
    '[::1]:8080',
    'grid.example.com',
    'GRID.example.com:9999',
    'proxy.example.com:8443',
    '[fd00::7]:80',
  ])('%s is served', async (host) => {
    expect(await get(`Host: ${host}`)).toMatchObject({ status: 200 })
  })

  test.each([
    'evil.com',
    'localhost.evil.com',
    '127.0.0.1.evil.com',
    'localhost.',
    'localhost.:8080',
    '127.0.0.1.',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0.0.0.0',
    '[::]',
    'proxy.example.com',
    'proxy.example.com:80',
    'sub.grid.example.com',
    'grid.example.com.evil.com',
  ])('%s is refused with 403, and the answer names http.allowed_hosts', async (host) => {
    const { status, body, headers } = await get(`Host: ${host}`)
    expect(status).toBe(403)
    expect(JSON.parse(body)).toEqual({
      error: {
        kind: 'denied',
        message: `The host "${host}" is not served here; to serve it, add it to http.allowed_hosts`,
      },
    })
    expect(headers['x-content-type-options']).toBe('nosniff')
  })

  test.each([
    'localhost:8080@evil',
    'localhost@evil.com',
    'evil.com@localhost',
    'localhost, evil.com',
    'localhost:99999',
    'localhost:',
    'localhost/evil',
    '[::1%25eth0]',
    '[::1%eth0]:80',
    'localhost\tevil.com',
  ])('%s is no valid host and is refused with 400', async (host) => {
    const { status, body } = await get(`Host: ${host}`)
    expect(status).toBe(400)
    expect(JSON.parse(body)).toMatchObject({ error: { kind: 'invalid' } })
  })

  test('a request without a Host is refused with 400', async () => {
    const missing = { status: 400, body: expect.stringMatching(/host header/i) }
    expect(await get()).toMatchObject(missing)
    expect(await get('Host:')).toMatchObject(missing)
    expect(await target('GET /healthz HTTP/1.0')).toMatchObject(missing)
    expect(await target('GET http://localhost/healthz HTTP/1.1')).toMatchObject(missing)
  })

  test('a request with two Host headers is refused with 400', async () => {
    expect((await get('Host: localhost', 'Host: evil.com')).status).toBe(400)
    expect((await get('Host: evil.com', 'Host: localhost')).status).toBe(400)
    expect((await get('Host: localhost', 'hOsT: localhost')).status).toBe(400)
  })

  test('the host of an absolute request target is checked like the header', async () => {
    expect((await target('GET http://evil.com/healthz HTTP/1.1', 'Host: localhost')).status).toBe(403)
    expect((await target('GET http://localhost/healthz HTTP/1.1', 'Host: evil.com')).status).toBe(403)
    expect((await target('GET http://localhost@evil.com/healthz HTTP/1.1', 'Host: localhost')).status).toBe(403)
    expect((await target('GET http://localhost:80/healthz HTTP/1.1', 'Host: localhost')).status).toBe(200)
  })

  test('the Host is checked for every path, also for unknown paths', async () => {
    for (const path of ['/', '/readyz', '/metrics', '/nothing/here']) {
      expect((await target(`GET ${path} HTTP/1.1`, 'Host: evil.com')).status).toBe(403)
    }
  })

  test('the Host of an upgrade is checked', async () => {
    const upgrade = ['Upgrade: websocket', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', 'Sec-WebSocket-Version: 13']
    expect((await target('GET /healthz HTTP/1.1', 'Host: evil.com', ...upgrade)).status).toBe(403)
  })
})

describe('request targets that are no path', () => {
  test.each(['GET * HTTP/1.1', 'OPTIONS * HTTP/1.1', 'GET //evil.com\\@x HTTP/1.1', 'GET ftp://localhost/ HTTP/1.1'])(
    '%s is refused with 400, in JSON',
    async (line) => {
      const { status, body } = await target(line, 'Host: localhost')
      expect(status).toBe(400)
      expect(JSON.parse(body)).toMatchObject({ error: { kind: 'invalid' } })
    },
  )
})

describe('Origin header', () => {
  test("the server's own origin is accepted", async () => {
    expect((await get('Host: localhost:8080', 'Origin: http://localhost:8080')).status).toBe(200)
    expect((await get('Host: localhost:80', 'Origin: http://localhost')).status).toBe(200)
    expect((await get('Host: LOCALHOST:8080', 'Origin: http://localhost:8080')).status).toBe(200)
  })

  test.each([
    'null',
    'https://evil.com',
    'http://localhost:3000',
    'https://localhost:8080',
    'http://localhost',
    'http://127.0.0.1:8080',
    'http://localhost:8080.evil.com',
    'http://localhost:8080/',
    'https://ci.example.com.evil.com',
    'http://ci.example.com',
    'http://localhost:8080, https://evil.com',
  ])('%s is refused with 403, and the answer names http.allowed_origins', async (origin) => {
    const { status, body, headers } = await get('Host: localhost:8080', `Origin: ${origin}`)
    expect(status).toBe(403)
    expect(body).toContain('http.allowed_origins')
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('two Origin headers are refused with 403', async () => {
    const twice = ['Origin: http://localhost:8080', 'Origin: https://evil.com']
    expect((await get('Host: localhost:8080', ...twice)).status).toBe(403)
  })

  test('a preflight from a foreign origin is refused with 403, without CORS headers', async () => {
    const asked = ['Host: localhost', 'Origin: https://evil.com', 'Access-Control-Request-Method: POST']
    const { status, headers } = await target('OPTIONS /healthz HTTP/1.1', ...asked)
    expect(status).toBe(403)
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('a configured origin gets CORS headers', async () => {
    const { status, headers } = await get('Host: grid.example.com', 'Origin: https://ci.example.com')
    expect(status).toBe(200)
    expect(headers['access-control-allow-origin']).toBe('https://ci.example.com')
    expect(headers['access-control-allow-credentials']).toBeUndefined()
    expect(headers.vary).toContain('Origin')
  })

  test('a preflight from a configured origin is answered with 204', async () => {
    const asked = ['Host: localhost', 'Origin: https://ci.example.com', 'Access-Control-Request-Method: GET']
    const { status, headers } = await target('OPTIONS /healthz HTTP/1.1', ...asked)
    expect(status).toBe(204)
    expect(headers).toMatchObject({
      'access-control-allow-origin': 'https://ci.example.com',
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': 'authorization, content-type',
    })
  })

  test('a matching Origin does not make a foreign Host acceptable', async () => {
    expect((await get('Host: evil.com', 'Origin: http://evil.com')).status).toBe(403)
  })
})
