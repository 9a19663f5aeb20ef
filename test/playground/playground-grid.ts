import { randomBytes, randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { loadConfig } from '../../src/app/config/load.ts'
import { systemClock } from '../../src/app/process/clock.ts'
import { startWorker } from '../../src/app/worker/worker.ts'
import { silentLog } from '../../src/base/log.ts'
import { playgroundDoor } from '../../src/doors/http/playground/playground-door.ts'
import { httpDoor } from '../../src/doors/http/server/http-door.ts'
import { listenHttp } from '../../src/doors/http/server/listen.ts'
import { snippetsDoor } from '../../src/doors/http/snippets/door.ts'
import { snippetError } from '../../src/doors/http/snippets/problem.ts'
import { loadLanguages } from '../../src/languages/load-languages.ts'
import { snippetTask } from '../../src/languages/snippet-task.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { snippetService } from '../../src/services/snippets/engine-snippets.ts'
import { memoryActionCache } from '../../src/storage/memory-action-cache.ts'
import { startGrid, type TestGrid, until } from '../workers/grid.ts'
import { ownFolder } from '../workers/worker-here.ts'

export interface PlaygroundGrid extends TestGrid {
  /** The address of the page. */
  readonly url: string
  /** Starts a worker with these languages in a sandbox; resolves when they are offered. */
  worker(...names: string[]): Promise<void>
}

/** A server with the snippet API and the page, in this process; it is closed at the end of the test. */
export async function playgroundGrid(): Promise<PlaygroundGrid> {
  const grid = await startGrid({ scheduler: { namesOffered: ['runs', 'language'] } })
  const { engine, blobs } = grid
  const languages = loadLanguages()
  const instances = () => ({ blobs, uploads: blobs, actions: memoryActionCache(), unnamedFunction: 'sha256' }) as const
  const clock = systemClock
  const service = snippetService({ engine, instances, languages, lower: snippetTask, clock, newId: randomUUID })
  onTestFinished(() => service.close())
  const ending = new AbortController()
  const door = httpDoor({
    errorShapes: [snippetError],
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    metricsContentType: 'text/plain',
    allowedHosts: [],
    allowedOrigins: [],
    version: '1.2.3',
    log: silentLog,
  })
  door.route(
    '/',
    snippetsDoor({
      scopeOf: () => ({ caller: LOCAL_CALLER, instance: '' }),
      service,
      instances,
      clock,
      version: '1.2.3',
      ending: ending.signal,
    }),
  )
  door.route('/', playgroundDoor({ languages, newNonce: () => randomBytes(16).toString('base64') }))
  const http = await listenHttp(door, { host: '127.0.0.1', port: 0 }, { clock, log: silentLog })
  onTestFinished(() => {
    ending.abort()
    return http.close(0)
  })
  return {
    ...grid,
    url: `http://${http.address}/play`,
    worker: (...names) => startLanguages(grid, names),
  }
}

async function startLanguages(grid: TestGrid, names: readonly string[]): Promise<void> {
  const folder = ownFolder()
  const env = {
    WINDLASS_SERVER_DATA_DIR: folder,
    WINDLASS_WORKER_SERVER_URL: `http://${grid.address}`,
    WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1',
    WINDLASS_WORKER_BACKEND: 'sandbox',
    WINDLASS_WORKER_DRAIN_TIMEOUT_SECONDS: '1',
  }
  const { config } = loadConfig({ env, home: folder })
  const worker = await startWorker(config, {
    clock: systemClock,
    log: silentLog,
    env: { PATH: '/usr/bin:/bin' },
    languages: loadLanguages().filter(({ name }) => names.includes(name)),
  })
  onTestFinished(() => worker.stop())
  const offers = (name: string): boolean =>
    grid.engine.workers.list().some(({ properties }) => properties.some(({ value }) => value === name))
  await until(() => names.every(offers))
}
