import { connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { actionResultFromProto } from '../../src/wire/action-result.ts'
import { startGrid } from './grid.ts'
import { workerHere } from './worker-here.ts'

/** Stands between a worker and its server, and cuts all connections when told to. */
async function proxyTo(port: number): Promise<{ readonly address: string; cut(): void }> {
  const open = new Set<Socket>()
  const proxy = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  onTestFinished(() => {
    cut()
    proxy.close()
  })
  const bound = proxy.address()
  if (bound === null || typeof bound === 'string') throw new Error('no port')
  return { address: `127.0.0.1:${bound.port}`, cut }
}

test('however often its connection is cut, every task has one result', async () => {
  const grid = await startGrid({
    scheduler: {
      disconnectGraceMs: 5000,
      deliveryGraceMs: 200, // a lease that got lost on its way is found out soon
      retry: { maxRetries: 100, firstDelayMs: 1, maxDelayMs: 1, onTimeout: false, onFailure: false },
    },
  })
  const { address, cut } = await proxyTo(grid.port)
  await workerHere(address, { WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '3', WINDLASS_WORKER_PREFETCH_TASKS: '2' })
  const all = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      grid.submit({ script: `sleep 0.02; echo ${i} > out.txt; echo ${i}`, outputs: ['out.txt'] }),
    ),
  )
  const cutting = setInterval(cut, 150)
  onTestFinished(() => clearInterval(cutting))
  setTimeout(() => clearInterval(cutting), 4000)
  const ended = await Promise.all(all.map(({ operation }) => grid.end(operation)))
  expect(ended.map(({ state }) => state)).toEqual(all.map(() => 'completed'))
  const printed = ended.map(({ end }) => {
    const { stdout, outputFiles } = actionResultFromProto(end?.result ?? new Uint8Array(), 'sha256')
    return [Buffer.from(stdout.raw ?? []).toString(), outputFiles.length]
  })
  expect(printed).toEqual(all.map((_, i) => [`${i}\n`, 1]))
}, 60_000)
