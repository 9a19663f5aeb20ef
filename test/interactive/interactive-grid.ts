import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { httpDoor } from '../../src/doors/http/server/http-door.ts'
import { listenHttp } from '../../src/doors/http/server/listen.ts'
import { snippetError } from '../../src/doors/http/snippets/problem.ts'
import { interactiveDoor } from '../../src/doors/websocket/snippets/door.ts'
import type { InteractiveDoorOptions } from '../../src/doors/websocket/snippets/session.ts'
import { loadLanguages } from '../../src/languages/load-languages.ts'
import { snippetTask } from '../../src/languages/snippet-task.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { snippetService } from '../../src/services/snippets/engine-snippets.ts'
import type { SnippetService } from '../../src/services/snippets/snippet-service.ts'
import { memoryActionCache } from '../../src/storage/memory-action-cache.ts'
import { startGrid, type TestGrid } from '../workers/grid.ts'
import { speakingWorker } from '../workers/worker-here.ts'
import { type TerminalClient, terminalClient } from './terminal-client.ts'

export interface InteractiveGrid extends TestGrid {
  readonly service: SnippetService
  readonly url: string
  client(): TerminalClient
}

const SPOKEN = ['python', 'bash']

/** A server with the interactive API, and a worker with a sandbox and two languages. */
export async function interactiveGrid(more: Partial<InteractiveDoorOptions> = {}): Promise<InteractiveGrid> {
  const grid = await startGrid()
  const { engine, blobs } = grid
  const languages = loadLanguages().filter(({ name }) => SPOKEN.includes(name))
  const instance = { blobs, uploads: blobs, actions: memoryActionCache(), unnamedFunction: 'sha256' } as const
  const service = snippetService({
    engine,
    instances: () => instance,
    languages,
    lower: snippetTask,
    clock: systemClock,
    newId: randomUUID,
  })
  onTestFinished(() => service.close())
  const app = httpDoor({
    errorShapes: [snippetError],
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    metricsContentType: 'text/plain',
    allowedHosts: [],
    allowedOrigins: [],
    version: '1.2.3',
    log: silentLog,
  })
  const sockets = [
    interactiveDoor({
      scopeOf: () => ({ caller: LOCAL_CALLER, instance: '' }),
      service,
      input: engine.input,
      clock: systemClock,
      ...more,
    }),
  ]
  const http = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock: systemClock, log: silentLog, sockets })
  onTestFinished(() => http.close(0))
  await speakingWorker(grid, languages)
  const url = `ws://${http.address}`
  return {
    ...grid,
    service,
    url,
    client() {
      const client = terminalClient(url)
      onTestFinished(() => client.socket.terminate())
      return client
    },
  }
}
