/**
 * The rules against foreign web pages, tested in a real browser: a page of another origin sends every kind of request
 * that pages can send, and the server runs none of them. The browser's own protection of local addresses is turned off,
 * so that the test exercises the server's.
 */

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Hono } from 'hono'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { httpDoor } from '../../src/doors/http/server/http-door.ts'
import { type HttpListener, listenHttp } from '../../src/doors/http/server/listen.ts'
import { websocketWorkers } from '../../src/doors/websocket/workers/door.ts'
import { createEngine, type LocalEngine } from '../../src/engine/engine.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { memoryJournal } from '../../src/storage/journal/memory-journal.ts'
import { describeWith, requireTool } from '../../src/testing/require.ts'

const HEARTBEAT = { type: 'heartbeat', clientId: 'from-a-page', load: { maxConcurrent: 1 }, capabilities: ['python'] }

interface Served {
  readonly engine: LocalEngine
  readonly server: HttpListener
  /** Every refused request, with the reason. */
  readonly refused: { readonly method: string; readonly path: string; readonly why: string }[]
}

async function serve(): Promise<Served> {
  const refused: Served['refused'] = []
  const engine = await createEngine({
    journal: memoryJournal(),
    clock: systemClock,
    newId: randomUUID,
    random: () => 0.5,
  })
  const app = httpDoor({
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    metricsContentType: 'text/plain',
    allowedHosts: [],
    allowedOrigins: [],
    version: '1.2.3',
    log: { ...silentLog, info: (fields) => refused.push(fields as Served['refused'][number]) },
  })
  const own = new Hono()
  own.get('/page', (c) => c.html('<title>ours</title>', 200, { 'content-security-policy': "connect-src 'self'" }))
  own.post('/api/v1/tasks', async (c) => {
    const { operation } = await engine.submit(LOCAL_CALLER, {
      instance: '',
      origin: 'snippet',
      spec: Buffer.from(await c.req.text()),
    })
    return c.json({ code: 0, data: { taskId: operation } })
  })
  app.route('/', own)
  const sockets = [websocketWorkers({ service: engine.workers, clock: systemClock })]
  const server = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock: systemClock, sockets })
  return { engine, server, refused }
}

/** Runs a script in the page and returns the outcome that the page can observe. */
const attempt = (page: Page, script: string): Promise<string> => page.evaluate(`(async () => { ${script} })()`)
const fetching = (call: string) =>
  `try { const r = await fetch(${call}); return r.type + ' ' + r.status } catch (e) { return e.name }`
const dialling = (url: string) => `return new Promise((resolve) => {
  const socket = new WebSocket('${url}')
  socket.onopen = () => { socket.send('${JSON.stringify(HEARTBEAT)}'); setTimeout(() => resolve('open'), 300) }
  socket.onclose = ({ code }) => resolve('closed ' + code)
})`

describeWith('chromium', 'requests of web pages', () => {
  let browser: Browser
  let served: Served
  let foreign: { readonly origin: string; close(): void }

  beforeAll(async () => {
    served = await serve()
    const stranger = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<title>theirs</title>'),
    )
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
    const { port } = stranger.address() as AddressInfo
    foreign = { origin: `http://evil.example:${port}`, close: () => stranger.close() }
    const root = process.getuid?.() === 0 ? ['--no-sandbox', '--disable-dev-shm-usage'] : []
    const names = '--host-resolver-rules=MAP evil.example 127.0.0.1'
    const args = [...root, names, '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests']
    browser = await chromium.launch({ executablePath: requireTool('chromium').command ?? '', headless: true, args })
  })
  afterAll(async () => {
    await browser?.close()
    foreign?.close()
    await served?.server.close(0)
    await served?.engine.close()
  })
  beforeEach(() => void served.refused.splice(0))

  async function open(url: string): Promise<Page> {
    const page = await browser.newPage()
    await page.goto(url)
    return page
  }

  async function nothingRan(): Promise<void> {
    const { tasks } = await served.engine.list(LOCAL_CALLER, {})
    expect([tasks, [...served.engine.operations()], served.engine.workers.list()]).toEqual([[], [], []])
  }

  test.each([
    ['text', (url: string) => fetching(`'${url}', { method: 'POST', mode: 'no-cors', body: '{"code":"1"}' }`)],
    [
      'a beacon',
      (url: string) => `navigator.sendBeacon('${url}', '{"code":"1"}'); await new Promise((r) => setTimeout(r, 300))`,
    ],
    [
      'a form',
      (
        url: string,
      ) => `document.body.innerHTML = '<iframe name=f></iframe><form method=post enctype=text/plain target=f action="${url}"><input name=x></form>'
      document.forms[0].submit(); await new Promise((r) => setTimeout(r, 500))`,
    ],
    [
      'JSON that is called text',
      (url: string) =>
        fetching(
          `'${url}', { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain;x=application/json' }, body: '{}' }`,
        ),
    ],
  ])('%s from a foreign page is refused', async (_, script) => {
    const page = await open(foreign.origin)
    await attempt(page, script(`http://${served.server.address}/api/v1/tasks`))
    expect(served.refused).toMatchObject([
      { method: 'POST', why: expect.stringMatching(/Pages of "(http:\/\/evil.example:\d+|null)"/) },
    ])
    await nothingRan()
  })

  test('JSON from a foreign page fails at the CORS preflight', async () => {
    const page = await open(foreign.origin)
    const json = `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"code":"1"}' }`
    expect(await attempt(page, fetching(`'http://${served.server.address}/api/v1/tasks', ${json}`))).toBe('TypeError')
    expect(served.refused).toMatchObject([{ method: 'OPTIONS', path: '/api/v1/tasks' }])
    await nothingRan()
  })

  test('a foreign page cannot read a response', async () => {
    const page = await open(foreign.origin)
    expect(await attempt(page, fetching(`'http://${served.server.address}/healthz'`))).toBe('TypeError')
    const script = `return new Promise((resolve) => { const s = document.createElement('script')
      s.src = 'http://${served.server.address}/healthz'; s.onerror = () => resolve('refused'); s.onload = () => resolve('loaded')
      document.head.append(s) })`
    expect(await attempt(page, script)).toBe('refused')
  })

  test('a foreign page cannot open a WebSocket', async () => {
    const page = await open(foreign.origin)
    const url = `ws://${served.server.address}/api/v1/workers/connect`
    expect(await attempt(page, dialling(url))).toBe('closed 1006')
    expect(served.refused).toMatchObject([{ method: 'GET', path: '/api/v1/workers/connect' }])
    await nothingRan()
  })

  test('a page whose DNS name was rebound to the server is refused, although it is of the same origin', async () => {
    const origin = `http://evil.example:${served.server.address.split(':')[1]}`
    const page = await browser.newPage()
    // The page as it was served before its name resolved to this server.
    await page.route(`${origin}/attack`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<title>x</title>' }),
    )
    await page.goto(`${origin}/attack`)
    const json = `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"code":"1"}' }`
    expect(await attempt(page, fetching(`'/api/v1/tasks', ${json}`))).toBe('basic 403')
    expect(await attempt(page, dialling(`${origin.replace('http', 'ws')}/api/v1/workers/connect`))).toBe('closed 1006')
    expect(served.refused).toMatchObject([
      { method: 'POST', why: expect.stringContaining('The host "evil.example') },
      { method: 'GET', why: expect.stringContaining('The host "evil.example') },
    ])
    await nothingRan()
  })

  test("a page of the server's own origin may submit tasks and open WebSockets", async () => {
    const page = await open(`http://${served.server.address}/page`)
    const json = `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"code":"1"}' }`
    expect(await attempt(page, fetching(`'/api/v1/tasks', ${json}`))).toBe('basic 200')
    expect(await attempt(page, dialling(`ws://${served.server.address}/api/v1/workers/connect`))).toBe('open')
    expect((await served.engine.list(LOCAL_CALLER, {})).tasks).toHaveLength(1)
    expect(served.engine.workers.list()).toMatchObject([{ worker: 'from-a-page' }])
    expect(served.refused).toEqual([])
  })
})
