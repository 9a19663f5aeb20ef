import { type AddressInfo, createServer } from 'node:net'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { listenHttp } from '../../src/doors/http/server/listen.ts'
import { roughWay } from '../../src/testing/rough-way.ts'
import { selfSigned } from '../../src/testing/self-signed.ts'
import { httpCaller } from '../../src/worker/links/http-caller.ts'
import { resultOf, text } from '../workers/told-results.ts'
import { workerHere } from '../workers/worker-here.ts'
import { askedProxy } from './asked-proxy.ts'
import { startHttpGrid } from './http-grid.ts'

test('every task of an HTTP worker has one result although its connections are cut every 150 ms', async () => {
  const grid = await startHttpGrid({
    scheduler: {
      deliveryGraceMs: 200, // a lease that was lost in transit is detected soon
      retry: { maxRetries: 100, maxLostWorkers: 3, firstDelayMs: 1, maxDelayMs: 1, onTimeout: false, onFailure: false },
    },
  })
  const { address, cut } = await roughWay(grid.httpPort)
  await workerHere('', {
    WINDLASS_WORKER_SERVER_URL: `http://${address}`,
    WINDLASS_WORKER_PROTOCOL: 'http',
    WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '3',
  })
  const all = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      grid.submit({ script: `sleep 0.02; echo ${i} > out.txt; echo ${i}`, outputs: ['out.txt'] }),
    ),
  )
  const cutting = setInterval(cut, 150)
  onTestFinished(() => clearInterval(cutting))
  setTimeout(() => clearInterval(cutting), 4000)
  const ends = await Promise.all(all.map(({ operation }) => grid.end(operation)))
  expect(ends.map(({ state }) => state)).toEqual(all.map(() => 'completed'))
  const printed = ends.map((end) => [text(resultOf(end).stdout.raw), resultOf(end).outputFiles.length])
  expect(printed).toEqual(all.map((_, i) => [`${i}\n`, 1]))
})

test('the HTTP client uses HTTP_PROXY, except for hosts in NO_PROXY', async () => {
  const grid = await startHttpGrid()
  const { url, asked } = await askedProxy()
  const caller = httpCaller({ url: grid.url, clock: systemClock, env: { HTTP_PROXY: url } })
  onTestFinished(caller.close)
  const request = { method: 'GET', path: '/healthz', timeoutMs: 10_000 } as const
  const { status, body } = await caller.call(request)
  expect([status, JSON.parse(body.toString())]).toMatchObject([200, { alive: true }])
  expect(asked).toHaveLength(1)
  const straight = httpCaller({ url: grid.url, clock: systemClock, env: { HTTP_PROXY: url, NO_PROXY: '127.0.0.1' } })
  onTestFinished(straight.close)
  expect((await straight.call(request)).status).toBe(200)
  expect(asked).toHaveLength(1)
})

test('the HTTP client accepts only a TLS server whose CA it was given', async () => {
  const { cert, key } = selfSigned()
  const app = new Hono().get('/', (c) => c.text('safe'))
  const server = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock: systemClock, tls: { cert, key } })
  onTestFinished(() => server.close(0))
  const request = { method: 'GET', path: '/', timeoutMs: 10_000 } as const
  const callWith = (tls: { ca?: string }) => {
    const caller = httpCaller({ url: `https://${server.address}`, clock: systemClock, tls })
    onTestFinished(caller.close)
    return caller.call(request)
  }
  expect((await callWith({ ca: cert })).body.toString()).toBe('safe')
  await expect(callWith({})).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
})

test('an HTTP call without a response ends at its timeout', async () => {
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const caller = httpCaller({ url: `http://127.0.0.1:${port}`, clock: systemClock })
  onTestFinished(() => {
    caller.close()
    silent.close()
  })
  await expect(caller.call({ method: 'GET', path: '/', timeoutMs: 50 })).rejects.toThrow(/no answer/)
})
