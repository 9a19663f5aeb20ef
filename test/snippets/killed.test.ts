import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/app/clock.ts'
import { snippetsClient } from '../../src/client/snippets.ts'
import { codeWorker, offering, ownFolder } from './code-grid.ts'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

interface Addresses {
  readonly grpc: string
  readonly http: string
}

async function startProcess(dataDir: string, { grpc, http }: Addresses): Promise<ChildProcess & Addresses> {
  const flags = ['server', '--json', '--grpc', grpc, '--http', http, '--data', dataDir]
  const child = spawn(WINDLASS, flags, { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const line = await new Promise<string>((done) => createInterface({ input: child.stdout }).once('line', done))
  return Object.assign(child, JSON.parse(line) as Addresses)
}

test('tasks that were accepted outlive a server that is killed, and keys still stand for them', {
  timeout: 120_000,
}, async () => {
  const folder = ownFolder()
  const first = await startProcess(folder, { grpc: '127.0.0.1:0', http: '127.0.0.1:0' })
  const { grpc, http } = first
  const client = snippetsClient({ url: `http://${http}`, clock: systemClock })
  const server = { grpc, http, httpUrl: `http://${http}`, stop: async () => {}, client }
  await codeWorker(server)
  await offering(server, ['bash'])
  const orders = Array.from({ length: 12 }, (_, i) => ({
    language: 'bash',
    code: `sleep 0.3; echo ${i}`,
    idempotencyKey: `order-${i}`,
    metadata: { run: 'killed' },
  }))
  const ids = (await Promise.all(orders.map((order) => client.submit(order)))).map(({ taskId }) => taskId)
  const gone = new Promise((done) => first.once('close', done))
  first.kill('SIGKILL')
  await gone

  await startProcess(folder, { grpc, http })
  await offering(server, ['bash'])
  const tasks = await Promise.all(ids.map((id) => client.wait(id)))
  expect(tasks.map(({ status, result }) => [status, result?.output])).toEqual(
    orders.map((_, i) => ['completed', `${i}\n`]),
  )
  const again = await Promise.all(orders.map((order) => client.submit(order)))
  expect(again.map(({ taskId }) => taskId)).toEqual(ids)
  expect((await client.list({ metadata: { run: 'killed' } })).tasks).toHaveLength(orders.length)
})
