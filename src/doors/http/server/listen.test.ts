import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import { afterEach, describe, expect, test } from 'vitest'
import { createAuthority } from '../../../testing/certificates.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { askRaw, openRaw, parseAnswer, untilClosed } from '../../../testing/raw-http.ts'
import { type HttpAddress, type HttpListener, type ListenOptions, listenHttp } from './listen.ts'

const LOOPBACK = { host: '127.0.0.1', port: 0 }
const HELLO = ['GET / HTTP/1.1', 'Host: localhost', 'Connection: close']

const servers: HttpListener[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close(0)))
})

/** Answers at once, except at /slow, which waits for the test. */
async function serve(options: Partial<ListenOptions> = {}, address: HttpAddress = LOOPBACK) {
  const clock = manualClock()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>()
  const app = new Hono()
  app.get('/', (c) => c.text('hello'))
  app.get('/slow', async (c) => {
    enter()
    await released
    return c.text('at last')
  })
  app.post('/echo', async (c) => c.text(await c.req.text()))
  app.onError((_error, c) => c.text('', 500))
  const server = await listenHttp(app, address, { clock, ...options })
  servers.push(server)
  return { server, clock, entered, release }
}

describe('listen address', () => {
  test('the address has the port that was bound', async () => {
    const { server } = await serve()
    expect(server.address).toMatch(/^127\.0\.0\.1:[1-9]\d+$/)
    expect((await askRaw(server.address, HELLO)).body).toBe('hello')
  })

  test('a socket file can be the address, and is deleted with the server', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'windlass-http-'))
    const { server } = await serve({}, { path: join(folder, 'http.sock') })
    expect(server.address).toBe(`unix:${join(folder, 'http.sock')}`)
    expect((await askRaw(server.address, HELLO)).body).toBe('hello')
    await server.close(0)
    await expect(openRaw(server.address)).rejects.toThrow('ENOENT')
    rmSync(folder, { recursive: true })
  })

  test('a port in use throws EADDRINUSE', async () => {
    const { server } = await serve()
    const port = Number(server.address.split(':')[1])
    await expect(serve({}, { host: '127.0.0.1', port })).rejects.toThrow('EADDRINUSE')
  })
})

describe('close()', () => {
  test('connections without a running request are closed at once, used or not', async () => {
    const { server, clock } = await serve()
    const used = await openRaw(server.address)
    used.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(used, 'data')
    const unused = await openRaw(server.address)
    const half = await openRaw(server.address)
    half.write('GET / HT')
    await server.close(60_000)
    await Promise.all([used, unused, half].map(untilClosed))
    expect(clock.pending()).toBe(0)
  })

  test('a running request is finished, then its connection is closed', async () => {
    const { server, entered, release } = await serve()
    const socket = await openRaw(server.address)
    const text = untilClosed(socket)
    socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await entered
    const closed = server.close(60_000)
    await expect(openRaw(server.address)).rejects.toThrow('ECONNREFUSED')
    release()
    await closed
    expect(parseAnswer(await text)).toMatchObject({ status: 200, body: 'at last' })
  })

  test('a request that still runs after the grace period is cut off', async () => {
    const { server, clock, entered } = await serve()
    const socket = await openRaw(server.address)
    const text = untilClosed(socket)
    socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await entered
    const closed = server.close(5_000)
    clock.advance(4_999)
    expect(socket.readyState).toBe('open')
    clock.advance(1)
    await closed
    expect(await text).toBe('')
  })

  test('close() may be called twice', async () => {
    const { server } = await serve()
    await Promise.all([server.close(0), server.close(0)])
  })
})

describe('slow and invalid peers', () => {
  const quick = { headersMs: 200, requestMs: 400, checkMs: 50 }

  test('a peer that sends its headers byte by byte gets 408', async () => {
    const { server } = await serve({ limits: quick })
    const socket = await openRaw(server.address)
    socket.write('GET / HTTP/1.1\r\nX: ')
    const drip = setInterval(() => socket.write('x'), 20)
    const answer = parseAnswer(await untilClosed(socket).finally(() => clearInterval(drip)))
    expect(answer.status).toBe(408)
    expect(JSON.parse(answer.body)).toEqual({
      error: { kind: 'invalid', message: 'The request took too long to arrive' },
    })
  })

  test('a connection whose body does not finish is closed', async () => {
    const { server } = await serve({ limits: quick })
    const socket = await openRaw(server.address)
    socket.write('POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx')
    expect(await untilClosed(socket)).toBe('')
  })

  test('a connection without a request gets 408', async () => {
    const { server } = await serve({ limits: quick })
    expect(parseAnswer(await untilClosed(await openRaw(server.address))).status).toBe(408)
  })

  test('a kept-alive connection without a request is closed after keepAliveMs', async () => {
    const { server } = await serve({ limits: { keepAliveMs: 100 } })
    const socket = await openRaw(server.address)
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    expect(await untilClosed(socket)).toContain('hello')
  })

  test('headers above headerBytes are refused with 431', async () => {
    const { server } = await serve({ limits: { headerBytes: 1024 } })
    const { status, body, headers } = await askRaw(server.address, [...HELLO, `X: ${'x'.repeat(2000)}`])
    expect([status, headers['x-content-type-options']]).toEqual([431, 'nosniff'])
    expect(JSON.parse(body)).toEqual({ error: { kind: 'invalid', message: 'The headers are too large' } })
  })

  test('bytes that are no HTTP get 400', async () => {
    const { server } = await serve()
    expect(await askRaw(server.address, ['\x16\x03\x01 hello'])).toMatchObject({ status: 400 })
    expect(await askRaw(server.address, ['GET / HTTP/1.1', 'Host : localhost'])).toMatchObject({ status: 400 })
  })
})

describe('TLS', () => {
  const authority = createAuthority()

  async function ask(address: string, own: object = {}): Promise<string> {
    const port = Number(address.split(':')[1])
    const request = httpsRequest({ host: '127.0.0.1', port, ca: authority.ca, agent: false, ...own })
    request.end()
    const [response] = await once(request, 'response')
    return (await response.toArray()).join('')
  }

  test('requests are answered over TLS, and close() does not wait for an unfinished handshake', async () => {
    const { server, clock } = await serve({ tls: authority.server() })
    expect(await ask(server.address)).toBe('hello')
    const mute = await openRaw(server.address)
    const closed = server.close(1_000)
    clock.advance(1_000)
    await closed
    await untilClosed(mute)
  })

  test('with a client CA, only clients with its certificate are served', async () => {
    const { server } = await serve({ tls: { ...authority.server(), clientCa: authority.ca } })
    await expect(ask(server.address)).rejects.toThrow()
    await expect(ask(server.address, createAuthority().client('stranger'))).rejects.toThrow()
    expect(await ask(server.address, authority.client('worker-1'))).toBe('hello')
  })
})
