import { expect, onTestFinished, test } from 'vitest'
import { roughWay } from '../../src/testing/rough-way.ts'
import { startProcess } from '../cache/server-process.ts'
import { until } from '../workers/grid.ts'
import { ownFolder } from '../workers/worker-here.ts'
import { startWorkerProcess, windlass } from '../workers/worker-process.ts'

const OUTAGE_MS = 3000

test('windlass run continues to follow its task after a server outage of three seconds', async () => {
  const server = await startProcess(ownFolder())
  onTestFinished(server.kill)
  await startWorkerProcess(server.grpc)
  const way = await roughWay(Number(server.grpc.split(':')[1]))
  const running = windlass('run', '--server', `grpc://${way.address}`, '--', '/bin/sh', '-c', 'sleep 4; echo through')
  await until(async () =>
    (await windlass('tasks', '--server', `grpc://${server.grpc}`, '--json')).out.includes('running'),
  )
  await way.close()
  await new Promise((done) => setTimeout(done, OUTAGE_MS))
  await way.mend()
  const { code, out, err } = await running
  expect(err).not.toContain('unsettled')
  expect({ code, out }).toEqual({ code: 0, out: 'through\n' })
})
