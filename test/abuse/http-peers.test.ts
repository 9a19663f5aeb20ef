/**
 * Peers that hold an HTTP server at almost no cost: the server ends each of them, and honest callers notice nothing.
 */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { type ListenOptions, listenHttp } from '../../src/doors/http/server/listen.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { askRaw, openRaw, untilClosed } from '../../src/testing/raw-http.ts'

const HELLO = ['GET / HTTP/1.1', 'Host: localhost', 'Connection: close']

async function serve(options: Partial<ListenOptions> = {}) {
  const clock = manualClock()
  const { promise: mayRead, resolve: letRead } = Promise.withResolvers<void>()
  const app = new Hono()
  app.get('/', (c) => c.text('hello'))
  app.post('/count', async (c) => c.text(String((await c.req.text()).length)))
  app.post('/late', async (c) => {
    await mayRead
    return c.text(String((await c.req.text()).length))
  })
  app.onError((_error, c) => c.text('', 500))
  const server = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock, ...options })
  onTestFinished(() => server.close(0))
  const hello = async () => (await askRaw(server.address, HELLO)).body
  return { server, clock, hello, letRead }
}

const post = (path: string, bytes: number) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes}\r\n\r\n`

/** Writes, and waits until the server has received the text. */
async function sent(socket: Socket, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => socket.write(text, (error) => (error ? reject(error) : resolve())))
  await new Promise((resolve) => setTimeout(resolve, 50))
}

describe('an HTTP request body', () => {
  test('is cut off when it arrives at one byte per four seconds', async () => {
    const { server, clock, hello } = await serve()
    const socket = await openRaw(server.address)
    const closed = untilClosed(socket)
    await sent(socket, post('/count', 1_000_000))
    for (let second = 0; second < 20; second += 4) {
      await sent(socket, 'x')
      clock.advance(4_000)
    }
    clock.advance(5_000)
    expect(await closed).toBe('')
    expect(await hello()).toBe('hello')
  })

  test('is accepted when it takes two minutes at a steady rate', async () => {
    const { server, clock } = await serve()
    const socket = await openRaw(server.address)
    const answer = once(socket, 'data')
    await sent(socket, post('/count', 60_000))
    for (let i = 0; i < 6; i++) {
      await sent(socket, 'x'.repeat(10_000))
      clock.advance(20_000)
    }
    expect(String((await answer)[0])).toMatch(/60000$/)
    socket.destroy()
  })

  test('is not timed out while the server itself delays reading it', async () => {
    const { server, clock, letRead } = await serve()
    const socket = await openRaw(server.address)
    const answer = once(socket, 'data')
    await sent(socket, post('/late', 4))
    await sent(socket, 'xx')
    for (let i = 0; i < 20; i++) clock.advance(5_000)
    letRead()
    await sent(socket, 'xx')
    expect(String((await answer)[0])).toMatch(/4$/)
    socket.destroy()
  })

  test('leaves no timer behind when it has been read', async () => {
    const { server, clock } = await serve()
    await askRaw(
      server.address,
      ['POST /count HTTP/1.1', 'Host: localhost', 'Connection: close', 'Content-Length: 1'],
      'x',
    )
    clock.advance(10_000)
    expect(clock.pending()).toBe(0)
  })
})

describe('HTTP connections', () => {
  test('above the limit per address are closed unread, and are accepted again when others close', async () => {
    const { server, hello } = await serve({ limits: { connectionsPerAddress: 3, connectionsAbove: 0 } })
    const held = await Promise.all([1, 2, 3].map(() => openRaw(server.address)))
    expect(await untilClosed(await openRaw(server.address))).toBe('')
    for (const socket of held) socket.destroy()
    await eventually(async () => expect(await hello()).toBe('hello'))
  })

  test('from a trusted proxy are not counted', async () => {
    const { server, hello } = await serve({
      limits: { connectionsPerAddress: 1, connectionsAbove: 0 },
      trustedProxies: ['127.0.0.0/8'],
    })
    const held = await Promise.all([1, 2, 3].map(() => openRaw(server.address)))
    expect(await hello()).toBe('hello')
    for (const socket of held) socket.destroy()
  })

  test('above the limit for all addresses are closed unread', async () => {
    const { server } = await serve({ limits: { connections: 2, connectionsAbove: 0 } })
    const held = await Promise.all([1, 2].map(() => openRaw(server.address)))
    expect(await untilClosed(await openRaw(server.address))).toBe('')
    for (const socket of held) socket.destroy()
  })
})

describe('WebSocket floods', () => {
  test('of 40 WebSockets from one address 10 are accepted and 30 get status 429', async () => {
    const sockets = [{ path: '/socket', accept: (socket: WebSocket) => socket.send('hello') }]
    const { server, hello } = await serve({ sockets, socketLimits: { connectionsPerAddress: 10 } })
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const socket = new WebSocket(`ws://${server.address}/socket`)
        onTestFinished(() => socket.terminate())
        socket.on('error', () => {})
        return Promise.race([
          once(socket, 'open').then(() => 'open'),
          once(socket, 'unexpected-response').then(([, response]) => String(response.statusCode)),
        ])
      }),
    )
    expect(outcomes.filter((outcome) => outcome === 'open')).toHaveLength(10)
    expect(outcomes.filter((outcome) => outcome === '429')).toHaveLength(30)
    expect(await hello()).toBe('hello')
  })

  test('WebSocket pings are limited to the rate of messages', async () => {
    const accepted: WebSocket[] = []
    const sockets = [{ path: '/socket', accept: (socket: WebSocket) => void accepted.push(socket) }]
    const { server, clock } = await serve({ sockets, socketLimits: { messages: { perSecond: 100, burst: 20 } } })
    const socket = new WebSocket(`ws://${server.address}/socket`)
    onTestFinished(() => socket.terminate())
    await once(socket, 'open')
    let pongs = 0
    socket.on('pong', () => pongs++)
    // In several chunks: the server does not hold back frames that it has already read.
    const flood = async () => {
      for (let i = 0; i < 100; i++) {
        socket.ping('x'.repeat(100))
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await flood()
    await eventually(() => expect(accepted[0]?.isPaused).toBe(true))
    expect(pongs).toBeLessThan(100)
    await eventually(() => {
      clock.advance(100)
      expect(pongs).toBe(100)
    })
  })
})
