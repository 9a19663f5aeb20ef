import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { silentLog } from '../../../base/log.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { askRaw, openRaw } from '../../../testing/raw-http.ts'
import { ANY_TYPE, takes, UNTYPED } from './body-rules.ts'
import { httpDoor } from './http-door.ts'
import { type HttpListener, listenHttp } from './listen.ts'

const log = { ...silentLog, error: vi.fn() }
let server: HttpListener
let interrupted: (error: unknown) => void = () => {}
const { promise: entered, resolve: enter } = Promise.withResolvers<void>()
beforeAll(async () => {
  const app = httpDoor({
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    metricsContentType: 'text/plain',
    allowedHosts: [],
    allowedOrigins: [],
    version: '1.2.3',
    log,
    maxBodyBytes: 100,
  })
  const echo = new Hono()
  echo.on(['POST', 'PUT', 'PATCH', 'DELETE'], '/json', async (c) => c.text(await c.req.text()))
  echo.post('/cwl', takes('text/x-cwl', { maxBytes: 1000 }), async (c) => c.text(await c.req.text()))
  echo.post('/either', takes('application/json'), takes('Text/Plain'), async (c) => c.text(await c.req.text()))
  echo.put('/untyped', takes(UNTYPED), async (c) => c.text(await c.req.text()))
  echo.put('/any', takes(UNTYPED), takes(ANY_TYPE, { maxBytes: 1000 }), async (c) => c.text(await c.req.text()))
  echo.post('/upload', async (c) => {
    enter()
    const text = await c.req.text().catch((error) => {
      interrupted(error)
      throw error
    })
    return c.text(text)
  })
  app.route('/echo', echo)
  server = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock: manualClock() })
})
afterAll(() => server.close(0))

const send = (line: string, headers: readonly string[], body: string) =>
  askRaw(server.address, [`${line} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers], body)
const post = (path: string, type: string, body: string) =>
  send(`POST ${path}`, [`Content-Type: ${type}`, `Content-Length: ${body.length}`], body)
const chunks = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

describe('a body', () => {
  test('comes without a content type where the route says so, and only so', async () => {
    const put = (...headers: string[]) => send('PUT /echo/untyped', [...headers, 'Content-Length: 4'], 'blob')
    expect(await put()).toMatchObject({ status: 200, body: 'blob' })
    for (const type of ['text/plain', 'application/json', 'application/octet-stream']) {
      const answer = await put(`Content-Type: ${type}`)
      expect([answer.status, answer.body]).toEqual([
        415,
        expect.stringContaining(`without a content type, not ${type}`),
      ])
    }
  })

  test('has any content type where the route accepts any, and the length limit of the declaration that fits', async () => {
    const put = (body: string, ...headers: string[]) =>
      send('PUT /echo/any', [...headers, `Content-Length: ${body.length}`], body)
    for (const type of ['text/plain', 'application/vnd.gradle.build-cache-artifact.v2', 'x']) {
      expect((await put('x'.repeat(200), `Content-Type: ${type}`)).status).toBe(200)
    }
    expect((await put('blob')).status).toBe(200)
    expect((await put('x'.repeat(200))).status).toBe(413)
    expect((await put('x'.repeat(1001), 'Content-Type: text/plain')).status).toBe(413)
  })

  test('comes as JSON', async () => {
    expect(await post('/echo/json', 'application/json', '{"a":1}')).toMatchObject({ status: 200, body: '{"a":1}' })
    expect((await post('/echo/json', 'Application/JSON; charset=utf-8', '{}')).status).toBe(200)
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    '',
  ])('as "%s" is what any web page may send, and is refused', async (type) => {
    const { status, body } = await post('/echo/json', type, '{}')
    expect(status).toBe(415)
    expect(JSON.parse(body).error.message).toMatch(/^The body must be application\/json, not/)
  })

  test('without a type is refused, whatever its method and however it is sent', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await send(`${method} /echo/json`, ['Content-Length: 2'], '{}')).status).toBe(415)
    }
    expect((await send('POST /echo/json', ['Transfer-Encoding: chunked'], chunks('{}'))).status).toBe(415)
  })

  test('that is not there needs no type', async () => {
    expect((await send('POST /echo/json', ['Content-Length: 0'], '')).status).toBe(200)
    expect((await send('DELETE /echo/json', [], '')).status).toBe(200)
  })

  test('may have another type where the route declares it, and then only that', async () => {
    expect((await post('/echo/cwl', 'text/x-cwl', 'class: Workflow')).status).toBe(200)
    expect((await post('/echo/cwl', 'application/json', '{}')).status).toBe(415)
  })

  test('may have several types where the route declares them', async () => {
    expect((await post('/echo/either', 'application/json', '{}')).status).toBe(200)
    expect((await post('/echo/either', 'text/plain', 'x')).status).toBe(200)
    expect((await post('/echo/either', 'text/html', 'x')).status).toBe(415)
  })
})

test('a caller that goes away in the middle of its body is no bug of ours', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<unknown>()
  interrupted = end
  const socket = await openRaw(server.address)
  const head = ['POST /echo/upload HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', 'Content-Length: 9']
  socket.write(`${head.join('\r\n')}\r\n\r\n{`)
  await entered
  socket.destroy()
  expect(await ended).toBeInstanceOf(Error)
  await new Promise(setImmediate)
  expect(log.error).not.toHaveBeenCalled()
})

describe('a body that is too large', () => {
  const JSON_TYPE = 'Content-Type: application/json'
  const long = `"${'x'.repeat(200)}"`

  test('is refused by the length it states', async () => {
    const { status, body, headers } = await post('/echo/json', 'application/json', long)
    expect([status, headers.connection]).toEqual([413, 'close'])
    expect(JSON.parse(body)).toEqual({ error: { kind: 'invalid', message: 'The body is larger than 100 bytes' } })
  })

  test('is cut off while it comes in chunks', async () => {
    expect((await send('POST /echo/json', [JSON_TYPE, 'Transfer-Encoding: chunked'], chunks('{"ok":1}'))).body).toBe(
      '{"ok":1}',
    )
    expect((await send('POST /echo/json', [JSON_TYPE, 'Transfer-Encoding: chunked'], chunks(long))).status).toBe(413)
  })

  test('is one that the route did not declare', async () => {
    expect((await post('/echo/cwl', 'text/x-cwl', long)).status).toBe(200)
    expect((await post('/echo/cwl', 'text/x-cwl', 'x'.repeat(1001))).status).toBe(413)
  })

  test('cannot pass by stating two lengths', async () => {
    const both = [JSON_TYPE, 'Content-Length: 2', 'Transfer-Encoding: chunked']
    expect((await send('POST /echo/json', both, chunks(long))).status).toBe(400)
  })
})
