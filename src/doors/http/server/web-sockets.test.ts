import { once } from 'node:events'
import { Hono } from 'hono'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { silentLog } from '../../../base/log.ts'
import { eventually } from '../../../testing/eventually.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { askRaw, openRaw, parseAnswer, untilClosed } from '../../../testing/raw-http.ts'
import { httpDoor } from './http-door.ts'
import { type HttpListener, type ListenOptions, listenHttp } from './listen.ts'
import type { WebSocketRequest, WebSocketRoute } from './web-sockets.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
})

const DOOR = {
  readiness: () => ({ ready: true, reasons: [] }),
  metricsText: async () => '',
  metricsContentType: 'text/plain',
  allowedHosts: ['grid.example.com'],
  allowedOrigins: ['https://ci.example.com'],
  trustedProxies: ['127.0.0.1'],
  version: '1.2.3',
}

interface Accepted {
  readonly socket: WebSocket
  readonly request: WebSocketRequest
}

async function serve(more: Partial<ListenOptions> = {}, route: Partial<WebSocketRoute> = {}) {
  const clock = manualClock()
  const log = { ...silentLog, error: vi.fn() }
  const accepted: Accepted[] = []
  const app = httpDoor({ ...DOOR, log })
  const echo: WebSocketRoute = {
    path: '/echo/:name',
    accept(socket, request) {
      accepted.push({ socket, request })
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
    },
    ...route,
  }
  const server = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock, log, sockets: [echo], ...more })
  closers.push(() => server.close(0))
  return { server, clock, log, accepted }
}

function dial(server: HttpListener, path = '/echo/ann?shout=1', headers: Record<string, string> = {}): WebSocket {
  const socket = new WebSocket(`ws://${server.address}${path}`, { headers })
  closers.push(() => socket.terminate())
  socket.on('error', () => {})
  return socket
}

async function opened(socket: WebSocket): Promise<WebSocket> {
  await once(socket, 'open')
  return socket
}

const refusal = async (socket: WebSocket) => {
  const [, response] = await once(socket, 'unexpected-response')
  const body = JSON.parse((await response.toArray()).join(''))
  return { status: response.statusCode, headers: response.headers, message: body.error.message }
}

const HEALTH = ['GET /healthz HTTP/1.1', 'Host: localhost', 'Connection: close']
const ASK = [
  'GET /echo/ann HTTP/1.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
]

describe('WebSocket route', () => {
  test('the route gets the request of the client, and sends to that client', async () => {
    const { server, accepted } = await serve()
    const socket = await opened(dial(server, '/echo/ann?shout=1', { 'X-Forwarded-For': '203.0.113.9' }))
    socket.send('hello')
    expect(String((await once(socket, 'message'))[0])).toBe('hello')
    expect(accepted[0]?.request).toMatchObject({
      path: '/echo/ann',
      params: { name: 'ann' },
      address: '203.0.113.9',
      headers: { upgrade: 'websocket' },
    })
    expect(accepted[0]?.request.query.get('shout')).toBe('1')
  })

  test.each([
    ['a%20b', 'a b'],
    ['%E4%BD%A0', '你'],
    ['a%2Fb', 'a/b'],
    ['50%', '50%'],
  ])('the path parameter %s is decoded to %s', async (path, name) => {
    const { server, accepted } = await serve()
    await opened(dial(server, `/echo/${path}`))
    expect(accepted[0]?.request.params).toEqual({ name })
  })

  test('a plain request is answered with 426', async () => {
    const { server } = await serve()
    const answer = await askRaw(server.address, ['GET /echo/x HTTP/1.1', 'Host: localhost', 'Connection: close'])
    expect([answer.status, answer.headers.upgrade]).toEqual([426, 'websocket'])
  })

  test('plain requests with another Upgrade are answered as usual', async () => {
    const { server } = await serve()
    const lines = ['GET /healthz HTTP/1.1', 'Host: localhost', 'Connection: Upgrade, close', 'Upgrade: h2c']
    expect((await askRaw(server.address, lines)).body).toContain('"alive":true')
  })

  test('a WebSocket path takes precedence over an HTTP route with a parameter', async () => {
    const app = httpDoor({ ...DOOR, log: silentLog })
    app.get('/workers/:id', (c) => c.text(`there is no worker ${c.req.param('id')}`, 404))
    const sockets = [{ path: '/workers/connect', accept: (socket: WebSocket) => socket.send('welcome') }]
    const server = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock: manualClock(), sockets })
    closers.push(() => server.close(0))
    expect(String((await once(dial(server, '/workers/connect'), 'message'))[0])).toBe('welcome')
    const [, other] = await once(dial(server, '/workers/other'), 'unexpected-response')
    expect(other.statusCode).toBe(404)
  })

  test('a WebSocket route works on an app without request rules', async () => {
    const app = new Hono()
    const accept = (socket: WebSocket) => socket.send('welcome')
    const options = { clock: manualClock(), sockets: [{ path: '/', accept }] }
    const server = await listenHttp(app, { host: '127.0.0.1', port: 0 }, options)
    closers.push(() => server.close(0))
    expect(String((await once(dial(server, '/'), 'message'))[0])).toBe('welcome')
  })

  test('an exception in accept closes its socket with 1011, and the server continues', async () => {
    const broken = () => {
      throw new Error('oops')
    }
    const { server, log } = await serve({}, { accept: broken })
    const socket = dial(server)
    expect((await once(socket, 'close'))[0]).toBe(1011)
    expect(log.error).toHaveBeenCalledOnce()
    expect((await askRaw(server.address, HEALTH)).status).toBe(200)
  })
})

describe('WebSocket handshakes', () => {
  test('a foreign Origin is refused with 403', async () => {
    const { server, accepted } = await serve()
    expect(await refusal(dial(server, '/echo/ann', { Origin: 'https://evil.example' }))).toMatchObject({
      status: 403,
      headers: { connection: 'close', 'x-content-type-options': 'nosniff' },
      message: expect.stringContaining('https://evil.example'),
    })
    expect(accepted).toEqual([])
  })

  test('a foreign Host with a matching Origin is refused with 403', async () => {
    const { server, accepted } = await serve()
    const port = server.address.split(':')[1]
    const rebound = { Host: `evil.example:${port}`, Origin: `http://evil.example:${port}` }
    expect(await refusal(dial(server, '/echo/ann', rebound))).toMatchObject({ status: 403 })
    expect(accepted).toEqual([])
  })

  test('an unknown path is refused with 404', async () => {
    const { server } = await serve()
    expect(await refusal(dial(server, '/nowhere'))).toMatchObject({ status: 404 })
  })

  test('a malformed handshake is refused with 400', async () => {
    const { server, accepted } = await serve()
    const lines = [...ASK.slice(0, 3), 'Host: localhost', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: short']
    expect((await askRaw(server.address, lines)).status).toBe(400)
    expect(accepted).toEqual([])
  })

  test("the server's own origin and configured origins are accepted", async () => {
    const { server, accepted } = await serve()
    await opened(dial(server, '/echo/ann', { Origin: `http://${server.address}` }))
    await opened(dial(server, '/echo/bob', { Origin: 'https://ci.example.com', Host: 'grid.example.com' }))
    expect(accepted.map(({ request }) => request.params.name)).toEqual(['ann', 'bob'])
  })
})

describe('WebSocket limits', () => {
  test('connections above connectionsPerAddress are refused with 429 until one closes', async () => {
    const { server } = await serve({ socketLimits: { connectionsPerAddress: 2 } })
    const from = (address: string) => dial(server, '/echo/x', { 'X-Forwarded-For': address })
    const first = await opened(from('203.0.113.1'))
    await opened(from('203.0.113.1'))
    expect(await refusal(from('203.0.113.1'))).toMatchObject({ status: 429, headers: { 'retry-after': '30' } })
    await opened(from('203.0.113.2'))
    first.close()
    await once(first, 'close')
    await eventually(() => opened(from('203.0.113.1')))
  })

  test('connections above the limit for all addresses are refused with 503', async () => {
    const { server } = await serve({ socketLimits: { connections: 1 } })
    await opened(dial(server))
    expect(await refusal(dial(server))).toMatchObject({ status: 503, headers: { 'retry-after': '30' } })
  })

  test('messages above the rate are read later, and none is lost', async () => {
    const { server, clock, accepted } = await serve({
      socketLimits: { messages: { perSecond: 800, burst: 320 }, pingMs: 1e9 },
    })
    const socket = await opened(dial(server))
    const echoed: string[] = []
    socket.on('message', (data) => echoed.push(String(data)))
    socket.send('first')
    await eventually(() => expect(echoed).toHaveLength(1))
    // More than the socket's buffer holds, so that pausing blocks the sender.
    const long = 'x'.repeat(64 * 1024)
    for (let i = 0; i < 200; i++) socket.send(`${i}${long}`)
    await eventually(() => expect(accepted[0]?.socket.isPaused).toBe(true))
    expect(echoed.length).toBeLessThan(150)
    await eventually(() => {
      clock.advance(1_000)
      expect(echoed).toHaveLength(201)
    })
    expect(echoed.slice(1).map((text) => Number.parseInt(text, 10))).toEqual([...Array(200).keys()])
  })
})

describe('WebSocket peers', () => {
  test('a handshake pipelined after another request closes the connection, and the server continues', async () => {
    const { server } = await serve()
    const raw = await openRaw(server.address)
    const rest = untilClosed(raw)
    raw.write(`${HEALTH.slice(0, 2).join('\r\n')}\r\n\r\n${[...ASK, 'Host: localhost'].join('\r\n')}\r\n\r\n`)
    expect(await rest).not.toContain('101 Switching')
    expect((await askRaw(server.address, HEALTH)).status).toBe(200)
  })

  test('the connection of a refused handshake is closed by the server', async () => {
    const { server } = await serve()
    const raw = await openRaw(server.address)
    raw.write(`${[...ASK, 'Host: evil.example'].join('\r\n')}\r\n\r\n`)
    expect(parseAnswer(await untilClosed(raw)).status).toBe(403)
  })

  test('unfinished messages above unfinishedBytes close the socket with the longest, and others are kept', async () => {
    const { server, accepted } = await serve({ socketLimits: { unfinishedBytes: 3 * 1024 * 1024 } })
    const [greedy, modest] = [await opened(dial(server)), await opened(dial(server))]
    const cut = once(greedy, 'close')
    modest.send('x'.repeat(1024 * 1024), { fin: false })
    for (let i = 0; i < 3; i++) greedy.send('x'.repeat(1024 * 1024), { fin: false })
    expect((await cut)[0]).toBe(1006)
    modest.send('end')
    expect(String((await once(modest, 'message'))[0])).toHaveLength(1024 * 1024 + 3)
    expect(accepted).toHaveLength(2)
  })

  test('a message above maxMessageBytes closes the socket with 1009', async () => {
    const { server } = await serve({}, { maxMessageBytes: 1000 })
    const socket = await opened(dial(server))
    socket.send('x'.repeat(1001))
    expect((await once(socket, 'close'))[0]).toBe(1009)
  })

  test('an unmasked frame closes the socket with 1002', async () => {
    const { server } = await serve()
    const raw = await openRaw(server.address)
    raw.write(`${[...ASK, 'Host: localhost'].join('\r\n')}\r\n\r\n`)
    await once(raw, 'data')
    const rest = untilClosed(raw)
    raw.write(Buffer.from([0x81, 0x01, 0x41])) // not masked, though a client's frames must be
    expect(Buffer.from(await rest, 'latin1').readUInt16BE(2)).toBe(1002)
  })

  test('a peer that does not answer a ping for 20 s is cut off, one that does is kept', async () => {
    const { server, clock, accepted } = await serve()
    const lively = await opened(dial(server))
    const dead = await opened(dial(server))
    dead.pong = () => {}
    const answered = accepted[0] && once(accepted[0].socket, 'pong')
    const ignored = once(dead, 'ping')
    clock.advance(20_000)
    await Promise.all([answered, ignored])
    const cut = once(dead, 'close')
    clock.advance(20_000)
    expect((await cut)[0]).toBe(1006)
    expect(lively.readyState).toBe(WebSocket.OPEN)
  })

  test('a peer with more than unreadBytes unread is cut off', async () => {
    const { server, accepted } = await serve({ socketLimits: { unreadBytes: 1024 * 1024 } })
    const socket = await opened(dial(server))
    socket.pause()
    const own = accepted[0]?.socket
    const closed = own && once(own, 'close')
    let sent = 0
    for (; own?.readyState === WebSocket.OPEN && sent < 1000; sent++) own.send(Buffer.alloc(256 * 1024))
    expect((await closed)?.[0]).toBe(1006)
    expect(sent).toBeLessThan(100) // the kernel's buffers are larger than ours
  })

  test('a stopping server closes the socket with 1001', async () => {
    const { server, clock } = await serve()
    const socket = await opened(dial(server))
    const closed = once(socket, 'close')
    await server.close(60_000)
    expect((await closed)[0]).toBe(1001)
    await eventually(() => expect(clock.pending()).toBe(0))
  })

  test('a peer that ignores the close is cut off after the grace period', async () => {
    const { server, clock } = await serve()
    const raw = await openRaw(server.address)
    raw.write(`${[...ASK, 'Host: localhost'].join('\r\n')}\r\n\r\n`)
    expect(parseAnswer(String((await once(raw, 'data'))[0])).status).toBe(101)
    const closed = server.close(5_000)
    clock.advance(5_000)
    await closed
    await untilClosed(raw)
  })
})
