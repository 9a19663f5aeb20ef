/** A grid of two workers: one with sandboxes, and one with Docker that has no default image. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type WholeGrid, wholeGrid } from '../execution/whole-grid.ts'
import { IMAGE, type RunningEngine, startDocker, whyNoDocker } from './docker-daemon.ts'

const why = whyNoDocker()
const SH = (script: string) => ({ command: { arguments: ['/bin/sh', '-c', script] } })
const prefixed = (prefix: string, settings: Record<string, string>) =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [`${prefix}${name}`, value]))
const stdoutOf = (result: object | undefined): string =>
  Buffer.from((result as { stdoutRaw?: string } | undefined)?.stdoutRaw ?? '', 'base64').toString()

describe(
  'a grid of a sandbox worker and a Docker worker',
  why === undefined ? {} : { skip: true, meta: { skipReason: why } },
  () => {
    let engine: RunningEngine
    beforeAll(async () => {
      engine = await startDocker()
    })
    afterAll(() => engine?.stop())

    const dockerWorker = (grid: WholeGrid, more: Record<string, string> = {}) =>
      grid.worker({
        WINDLASS_WORKER_WORKER_ID: 'docker',
        WINDLASS_WORKER_BACKEND: 'docker',
        WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '4',
        DOCKER_HOST: `unix://${engine.socketPath}`,
        ...more,
      })
    const plainWorker = (grid: WholeGrid) =>
      grid.worker({ WINDLASS_WORKER_WORKER_ID: 'plain', WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '1' })

    test('runs commands with an image on the Docker worker and others on the sandbox worker', async () => {
      const grid = await wholeGrid()
      await dockerWorker(grid)
      await plainWorker(grid)
      const plain = Array.from({ length: 12 }, (_, number) => grid.run(SH(`echo plain ${number}`)))
      const platform = { properties: [{ name: 'container-image', value: IMAGE }] }
      const imaged = [0, 1].map((number) =>
        grid.run({ ...SH(`test ! -e /usr/bin/env && echo imaged ${number}`), action: { platform } }),
      )
      const ended = await Promise.all([...plain, ...imaged])
      for (const { status, message } of ended) expect([status?.code ?? 0, message ?? '']).toEqual([0, ''])
      expect(ended.map(({ result }) => stdoutOf(result))).toEqual([
        ...plain.map((_, number) => `plain ${number}\n`),
        ...imaged.map((_, number) => `imaged ${number}\n`),
      ])
    })

    test('retries a command on the other worker when the first cannot run it', async () => {
      // Retries until the other worker has started.
      const retry = { MAX_RETRIES: '1000', FIRST_DELAY_SECONDS: '0.1', MAX_DELAY_SECONDS: '0.5' }
      const grid = await wholeGrid(prefixed('WINDLASS_EXECUTION_RETRY_', retry))
      // The worker claims to support it, as one of an earlier version does.
      await dockerWorker(grid, { WINDLASS_WORKER_PLATFORM: 'runs-without-image=yes' })
      const running = grid.run(SH('echo here'))
      await new Promise((resolve) => setTimeout(resolve, 300)) // by then the attempt has failed there, or is about to
      await plainWorker(grid)
      const { result, status } = await running
      expect(status?.code ?? 0).toBe(0)
      expect(stdoutOf(result)).toBe('here\n')
    })
  },
)
