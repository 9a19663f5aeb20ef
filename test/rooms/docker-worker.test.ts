import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGrid } from '../workers/grid.ts'
import { resultOf } from '../workers/told-results.ts'
import { workerHere } from '../workers/worker-here.ts'
import { IMAGE, type RunningEngine, startDocker, whyNoDocker } from './docker-daemon.ts'

const why = whyNoDocker()

describe('a worker with the docker backend', why === undefined ? {} : { skip: true, meta: { skipReason: why } }, () => {
  let engine: RunningEngine
  beforeAll(async () => {
    engine = await startDocker()
  })
  afterAll(() => engine?.stop())

  test('runs actions in its configured image and collects their outputs', async () => {
    const grid = await startGrid()
    await workerHere(grid.address, {
      WINDLASS_WORKER_BACKEND: 'docker',
      WINDLASS_WORKER_DOCKER_IMAGE: IMAGE,
      DOCKER_HOST: `unix://${engine.socketPath}`,
    })
    const script = 'test ! -e /usr/bin/env && tr a-z A-Z < in.txt > out.txt && id -u'
    const { operation } = await grid.submit({ script, inputs: { 'in.txt': 'hello' }, outputs: ['out.txt'] })
    const ended = await grid.end(operation)
    expect(ended.state).toBe('completed')
    const result = resultOf(ended)
    expect(result).toMatchObject({ exitCode: 0, outputFiles: [{ path: 'out.txt', digest: { size: 5 } }] })
    expect(Buffer.from(result.stdout.raw ?? []).toString()).not.toBe('0\n')
  })
})
