import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startProcess } from '../cache/server-process.ts'
import { until } from '../workers/grid.ts'
import { ownFolder } from '../workers/worker-here.ts'
import { startWorkerProcess, windlass } from '../workers/worker-process.ts'

const OUTAGE_MS = 3000

/** The way to a server, which can be closed for a while. */
async function gate(port: number) {
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [one, other] of [[near, far] as const, [far, near] as const]) {
      one.on('error', () => {}).once('close', () => other.destroy())
      one.pipe(other)
      shut.push(() => one.destroy())
    }
  })
  const shut: (() => void)[] = []
  const listen = (at: number) => new Promise<void>((done) => server.listen(at, '127.0.0.1', done))
  await listen(0)
  const own = (server.address() as AddressInfo).port
  const close = async (): Promise<void> => {
    const closed = new Promise((done) => server.close(done))
    for (const end of shut.splice(0)) end()
    await closed
  }
  onTestFinished(close)
  return { address: `127.0.0.1:${own}`, close, open: () => listen(own) }
}

test('a command on the grid is followed through an outage of its server, though nothing else keeps the program', async () => {
  const server = await startProcess(ownFolder())
  onTestFinished(server.kill)
  await startWorkerProcess(server.grpc)
  const way = await gate(Number(server.grpc.split(':')[1]))
  const running = windlass('run', '--server', `grpc://${way.address}`, '--', '/bin/sh', '-c', 'sleep 4; echo through')
  await until(async () =>
    (await windlass('tasks', '--server', `grpc://${server.grpc}`, '--json')).out.includes('running'),
  )
  await way.close()
  await new Promise((done) => setTimeout(done, OUTAGE_MS))
  await way.open()
  const { code, out, err } = await running
  expect(err).not.toContain('unsettled')
  expect({ code, out }).toEqual({ code: 0, out: 'through\n' })
})
