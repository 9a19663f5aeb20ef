import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type AddressRules, addressRules, anyAddress } from '../../../base/address-rules.ts'
import type { Clock } from '../../../base/clock.ts'
import { type DeliveryLog, memoryDeliveryLog } from '../../../services/snippets/callbacks/delivery-log.ts'
import { fileDeliveryLog } from '../../../services/snippets/callbacks/file-delivery-log.ts'
import { postCallback, signatureOf } from '../../../services/snippets/callbacks/post-callback.ts'
import { memoryJournal } from '../../../storage/journal/memory-journal.ts'
import { deliveriesAnswer } from './answers.ts'
import {
  dataOf,
  echoing,
  HELLO,
  LOCAL_SCOPE,
  ran,
  type SnippetsGrid,
  snippetsGrid,
  stage,
  submitted,
  turns,
} from './snippets.fixture.ts'

/** The real clock, because the receivers are real servers. */
const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms).unref()
    return () => clearTimeout(timer)
  },
}

const PUBLIC_ONLY = addressRules({ reach: [], own: () => [] })

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An HTTP receiver that answers with these status codes in turn. */
async function receiver(answers: readonly number[] = [], extra: Record<string, string> = {}) {
  const received: Received[] = []
  const server: Server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => {
      body += piece.toString()
    })
    request.on('end', () => {
      response.writeHead(answers[received.length] ?? 200, extra).end('thanks')
      received.push({ headers: request.headers, body })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

const DELAYS_MS = [5, 10, 20]

const gridWith = (log: DeliveryLog, rest: object = {}): Promise<SnippetsGrid> =>
  snippetsGrid({
    clock: systemClock,
    callbacks: { log, addresses: anyAddress, delaysMs: DELAYS_MS, secret: 'of the server' },
    ...rest,
  })

async function until(isSo: () => boolean, mostMs = 10_000): Promise<void> {
  const end = performance.now() + mostMs
  while (!isSo()) {
    if (performance.now() > end) throw new Error('it did not come about')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

test('a callback has the result of the task, signed with the secret of the request', async () => {
  const { received, url } = await receiver()
  const grid = await gridWith(memoryDeliveryLog())
  grid.worker('w1', { answer: echoing })
  const id = await submitted(grid, { ...HELLO, callback: { url, secret: 'hush-hush' } })
  await until(() => grid.service.delivery(LOCAL_SCOPE, id)?.state === 'delivered')
  const [{ headers, body }] = received as [Received]
  expect(JSON.parse(body)).toMatchObject({
    event: 'task.completed',
    data: { taskId: id, status: 'completed', result: { output: 'Hello, World!\n' } },
  })
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'windlass-delivery': id,
    'windlass-attempt': '1',
  })
  const seconds = Number(headers['windlass-timestamp'])
  expect(headers['windlass-signature']).toBe(`v1=${signatureOf('hush-hush', seconds, body)}`)
  expect(JSON.stringify((await grid.ask(`/api/v1/tasks/${id}`)).json)).not.toContain('hush-hush')
})

test('a callback without a secret of its own is signed with the secret of the server', async () => {
  const { received, url } = await receiver()
  const grid = await gridWith(memoryDeliveryLog())
  grid.worker('w1', { answer: echoing })
  await submitted(grid, { ...HELLO, callback: { url } })
  await until(() => received.length === 1)
  const { headers, body } = received[0] as Received
  const seconds = Number(headers['windlass-timestamp'])
  expect(headers['windlass-signature']).toBe(`v1=${signatureOf('of the server', seconds, body)}`)
})

test('a callback that is not answered with 2xx is retried with the same delivery id, and all tries are listed', async () => {
  const { received, url } = await receiver([500, 302], { location: 'http://127.0.0.1:1/' })
  const grid = await gridWith(memoryDeliveryLog())
  grid.worker('w1', { answer: echoing })
  const id = await submitted(grid, { ...HELLO, callback: { url } })
  await until(() => grid.service.delivery(LOCAL_SCOPE, id)?.state === 'delivered')
  expect(received.map(({ headers }) => [headers['windlass-delivery'], headers['windlass-attempt']])).toEqual([
    [id, '1'],
    [id, '2'],
    [id, '3'],
  ])
  const { state, tries } = dataOf(await grid.ask(`/api/v1/tasks/${id}/deliveries`), deliveriesAnswer)
  expect(state).toBe('delivered')
  expect(tries.map(({ status, problem }) => [status, problem])).toEqual([
    [500, 'answered 500'],
    [302, 'answered 302'],
    [200, undefined],
  ])
})

test('a callback is given up after the last delay', async () => {
  const { received, url } = await receiver([500, 500, 500, 500, 500])
  const grid = await gridWith(memoryDeliveryLog())
  grid.worker('w1', { answer: echoing })
  const id = await submitted(grid, { ...HELLO, callback: { url } })
  await until(() => grid.service.delivery(LOCAL_SCOPE, id)?.state === 'given-up')
  expect(received).toHaveLength(1 + DELAYS_MS.length)
})

test.each([
  ['while its task was open', false],
  ['when its task was over already', true],
])('a callback owed at a crash is sent after the restart: %s', async (_, isOver) => {
  const journal = memoryJournal()
  const folder = mkdtempSync(join(tmpdir(), 'windlass-callbacks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const open = () => fileDeliveryLog(join(folder, 'deliveries.jsonl'))
  const { received, url } = await receiver()
  const log = await open()
  const before = await gridWith(log, { journal })
  const worker = before.worker('w1')
  const id = await submitted(before, { ...HELLO, callback: { url } })
  before.service.close() // as in a crash: nothing more is sent
  if (isOver) {
    await worker.finish(ran(stage('')))
    await turns()
  }
  await before.engine.close()
  expect([received.length, log.owed()]).toEqual([0, [id]])

  const after = await gridWith(await open(), { journal })
  if (!isOver) after.worker('w1', { answer: echoing })
  await until(() => after.service.delivery(LOCAL_SCOPE, id)?.state === 'delivered')
  expect(JSON.parse((received[0] as Received).body)).toMatchObject({ event: 'task.completed', data: { taskId: id } })
  expect((await open()).owed()).toEqual([])
})

test('a refused or repeated submission owes no further callback', async () => {
  const log = memoryDeliveryLog()
  const { received, url } = await receiver()
  const grid = await gridWith(log)
  const body = { ...HELLO, callback: { url }, idempotencyKey: 'k' }
  expect((await grid.ask('/api/v1/tasks', { body })).json.code).toBe(50301)
  expect(log.owed()).toEqual([])
  await new Promise((resolve) => setTimeout(resolve, 30))
  grid.worker('w1', { answer: echoing })
  const id = await submitted(grid, body)
  await until(() => grid.service.delivery(LOCAL_SCOPE, id)?.state === 'delivered')
  expect(await submitted(grid, body)).toBe(id)
  expect([received.length, log.owed()]).toEqual([1, []])
})

test('a URL whose name or address leads to this machine is not called', async () => {
  const { received, url } = await receiver()
  const port = new URL(url).port
  const order = { secret: undefined, delivery: 'd', attempt: 1, body: '{}' }
  const post = (to: string, addresses: AddressRules = PUBLIC_ONLY) =>
    postCallback({ ...order, url: to }, { clock: systemClock, addresses, timeoutMs: 5000 })
  expect((await post(`http://127.0.0.1:${port}/`)).problem).toContain('not a public address')
  expect((await post(`http://[::ffff:127.0.0.1]:${port}/`)).problem).toContain('not a public address')
  // A name cannot be judged by its URL; the address lookup is checked. The machine's own name is in its hosts file.
  const named = await post(`http://${hostname()}:${port}/`)
  expect(named.problem).toMatch(/not a public address|ENOTFOUND|EAI_AGAIN/)
  expect(received).toHaveLength(0)
  expect(await post(`http://127.0.0.1:${port}/`, anyAddress)).toEqual({ status: 200, problem: undefined })
})

test('a private address is called only when the operator lists it, by address or by name', async () => {
  const { received, url } = await receiver()
  const order = { secret: undefined, delivery: 'd', attempt: 1, body: '{}' }
  const port = new URL(url).port
  const post = (host: string, reach: readonly string[], own: readonly string[] = []) =>
    postCallback(
      { ...order, url: `http://${host}:${port}/` },
      { clock: systemClock, addresses: addressRules({ reach, own: () => own }), timeoutMs: 5000 },
    )
  expect(await post('127.0.0.1', ['127.0.0.1'])).toEqual({ status: 200, problem: undefined })
  expect(await post('localhost', ['localhost'])).toEqual({ status: 200, problem: undefined })
  expect((await post('localhost', ['10.0.0.0/8'])).problem).toContain('this machine')
  expect((await post('8.8.8.8', [], ['8.8.8.8'])).problem).toContain('[execution.network]')
  expect(received).toHaveLength(2)
})

test('a redirect is not followed, and counts as a failed try', async () => {
  const inner = await receiver()
  const outer = await receiver([307], { location: inner.url })
  const order = { url: outer.url, secret: undefined, delivery: 'd', attempt: 1, body: '{}' }
  const posted = await postCallback(order, { clock: systemClock, addresses: anyAddress, timeoutMs: 5000 })
  expect(posted).toEqual({ status: 307, problem: 'answered 307' })
  expect([outer.received.length, inner.received.length]).toEqual([1, 0])
})

test('a receiver that does not answer within timeoutMs is a failed try', async () => {
  const server = createServer(() => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const order = { url, secret: undefined, delivery: 'd', attempt: 1, body: '{}' }
  const posted = await postCallback(order, { clock: systemClock, addresses: anyAddress, timeoutMs: 50 })
  expect(posted).toEqual({ status: undefined, problem: 'no answer in time' })
})
