import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/app/clock.ts'
import { loadConfig } from '../../src/app/config-load.ts'
import { startWorker } from '../../src/app/worker.ts'
import { silentLog } from '../../src/base/log.ts'
import { httpDoor } from '../../src/doors/http/http-door.ts'
import { listenHttp } from '../../src/doors/http/listen.ts'
import { type InteractiveDoorOptions, interactiveDoor } from '../../src/doors/interactive/interactive-door.ts'
import { snippetDesk } from '../../src/doors/snippets/desk/engine-desk.ts'
import type { SnippetDesk } from '../../src/doors/snippets/snippet-desk.ts'
import { loadLanguages } from '../../src/languages/load-languages.ts'
import { snippetTask } from '../../src/languages/snippet-task.ts'
import { memoryActionCache } from '../../src/storage/memory-action-cache.ts'
import { startGrid, type TestGrid, until } from '../workers/grid.ts'
import { ownFolder } from '../workers/worker-here.ts'
import { type TerminalClient, terminalClient } from './terminal-client.ts'

export interface InteractiveGrid extends TestGrid {
  readonly desk: SnippetDesk
  readonly url: string
  client(): TerminalClient
}

const SPOKEN = ['python', 'bash']

/** A server with the interactive door, and a worker with a sandbox that speaks two languages. */
export async function interactiveGrid(more: Partial<InteractiveDoorOptions> = {}): Promise<InteractiveGrid> {
  const grid = await startGrid()
  const { engine, blobs } = grid
  const languages = loadLanguages().filter(({ name }) => SPOKEN.includes(name))
  const instance = { blobs, uploads: blobs, actions: memoryActionCache(), unnamedFunction: 'sha256' } as const
  const desk = snippetDesk({
    engine,
    instances: () => instance,
    languages,
    lower: snippetTask,
    clock: systemClock,
    newId: randomUUID,
  })
  onTestFinished(() => desk.stop())
  const app = httpDoor({
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    metricsContentType: 'text/plain',
    allowedHosts: [],
    allowedOrigins: [],
    version: '1.2.3',
    log: silentLog,
  })
  const sockets = [interactiveDoor({ desk, input: engine.input, clock: systemClock, ...more })]
  const http = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock: systemClock, log: silentLog, sockets })
  onTestFinished(() => http.close(0))
  await startLanguages(grid, languages)
  const url = `ws://${http.address}`
  return {
    ...grid,
    desk,
    url,
    client() {
      const client = terminalClient(url)
      onTestFinished(() => client.socket.terminate())
      return client
    },
  }
}

async function startLanguages(grid: TestGrid, languages: ReturnType<typeof loadLanguages>): Promise<void> {
  const folder = ownFolder()
  const env = {
    WINDLASS_SERVER_DATA_DIR: folder,
    WINDLASS_WORKER_SERVER_URL: `http://${grid.address}`,
    WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1',
    WINDLASS_WORKER_BACKEND: 'sandbox',
    WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '4',
    WINDLASS_WORKER_DRAIN_TIMEOUT_SECONDS: '1',
  }
  const { config } = loadConfig({ env, home: folder })
  const worker = await startWorker(config, {
    clock: systemClock,
    log: silentLog,
    env: { PATH: '/usr/bin:/bin' },
    languages,
  })
  onTestFinished(() => worker.stop())
  const offers = (name: string): boolean =>
    grid.engine.workers.list().some(({ properties }) => properties.some(({ value }) => value === name))
  await until(() => languages.every(({ name }) => offers(name)), 60_000)
}
