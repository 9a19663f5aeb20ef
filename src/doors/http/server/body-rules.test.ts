import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { silentLog } from '../../../base/log.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { askRaw, openRaw } from '../../../testing/raw-http.ts'
import { httpDoor } from './http-door.ts'
import { type HttpListener, listenHttp } from './listen.ts'
import { ANY_TYPE, takes, UNTYPED } from './request-rules.ts'

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

describe('content type of a body', () => {
  test('a route for untyped bodies accepts no content type, and refuses any with 415', async () => {
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

  test('a route for any type accepts each, with the length limit of the matching declaration', async () => {
    const put = (body: string, ...headers: string[]) =>
      send('PUT /echo/any', [...headers, `Content-Length: ${body.length}`], body)
    for (const type of ['text/plain', 'application/vnd.gradle.build-cache-artifact.v2', 'x']) {
      expect((await put('x'.repeat(200), `Content-Type: ${type}`)).status).toBe(200)
    }
    expect((await put('blob')).status).toBe(200)
    expect((await put('x'.repeat(200))).status).toBe(413)
    expect((await put('x'.repeat(1001), 'Content-Type: text/plain')).status).toBe(413)
  })

  test('application/json is accepted', async () => {
    expect(await post('/echo/json', 'application/json', '{"a":1}')).toMatchObject({ status: 200, body: '{"a":1}' })
    expect((await post('/echo/json', 'Application/JSON; charset=utf-8', '{}')).status).toBe(200)
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    '',
  ])('"%s", which any web page may send, is refused with 415', async (type) => {
    const { status, body } = await post('/echo/json', type, '{}')
    expect(status).toBe(415)
    expect(JSON.parse(body).error.message).toMatch(/^The body must be application\/json, not/)
  })

  test('a body without a type is refused with 415, for every method, chunked or not', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await send(`${method} /echo/json`, ['Content-Length: 2'], '{}')).status).toBe(415)
    }
    expect((await send('POST /echo/json', ['Transfer-Encoding: chunked'], chunks('{}'))).status).toBe(415)
  })

  test('an empty body needs no type', async () => {
    expect((await send('POST /echo/json', ['Content-Length: 0'], '')).status).toBe(200)
    expect((await send('DELETE /echo/json', [], '')).status).toBe(200)
  })

  test('a route that declares another type accepts only that type', async () => {
    expect((await post('/echo/cwl', 'text/x-cwl', 'class: Workflow')).status).toBe(200)
    expect((await post('/echo/cwl', 'application/json', '{}')).status).toBe(415)
  })

  test('a route that declares several types accepts each of them', async () => {
    expect((await post('/echo/either', 'application/json', '{}')).status).toBe(200)
    expect((await post('/echo/either', 'text/plain', 'x')).status).toBe(200)
    expect((await post('/echo/either', 'text/html', 'x')).status).toBe(415)
  })
})

test('a client that disconnects during its body is not logged as an error', async () => {
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

describe('body above the limit', () => {
  const JSON_TYPE = 'Content-Type: application/json'
  const long = `"${'x'.repeat(200)}"`

  test('a Content-Length above the limit is refused with 413', async () => {
    const { status, body, headers } = await post('/echo/json', 'application/json', long)
    expect([status, headers.connection]).toEqual([413, 'close'])
    expect(JSON.parse(body)).toEqual({ error: { kind: 'invalid', message: 'The body is larger than 100 bytes' } })
  })

  test('a chunked body is refused with 413 when it exceeds the limit', async () => {
    expect((await send('POST /echo/json', [JSON_TYPE, 'Transfer-Encoding: chunked'], chunks('{"ok":1}'))).body).toBe(
      '{"ok":1}',
    )
    expect((await send('POST /echo/json', [JSON_TYPE, 'Transfer-Encoding: chunked'], chunks(long))).status).toBe(413)
  })

  test('a route may declare a higher limit', async () => {
    expect((await post('/echo/cwl', 'text/x-cwl', long)).status).toBe(200)
    expect((await post('/echo/cwl', 'text/x-cwl', 'x'.repeat(1001))).status).toBe(413)
  })

  test('a body with Content-Length and Transfer-Encoding is refused with 400', async () => {
    const both = [JSON_TYPE, 'Content-Length: 2', 'Transfer-Encoding: chunked']
    expect((await send('POST /echo/json', both, chunks(long))).status).toBe(400)
  })
})
