/** A server with the Piston and Judge0 APIs, and a worker with a sandbox. */
import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { anyAddress } from '../../src/base/address-rules.ts'
import { silentLog } from '../../src/base/log.ts'
import { JUDGE0_FORM, judge0Form } from '../../src/doors/http/judge0/callback.ts'
import { judge0Door } from '../../src/doors/http/judge0/door.ts'
import { judge0Error } from '../../src/doors/http/judge0/problem.ts'
import { pistonDoor } from '../../src/doors/http/piston/door.ts'
import { pistonError } from '../../src/doors/http/piston/problem.ts'
import { httpDoor } from '../../src/doors/http/server/http-door.ts'
import { listenHttp } from '../../src/doors/http/server/listen.ts'
import { callbackBody } from '../../src/doors/http/snippets/callback-body.ts'
import { snippetError } from '../../src/doors/http/snippets/problem.ts'
import { pistonConnect } from '../../src/doors/websocket/piston/door.ts'
import type { PistonConnectOptions } from '../../src/doors/websocket/piston/session.ts'
import { loadLanguages } from '../../src/languages/load-languages.ts'
import { snippetTask } from '../../src/languages/snippet-task.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { memoryDeliveryLog } from '../../src/services/snippets/callbacks/delivery-log.ts'
import { snippetService } from '../../src/services/snippets/engine-snippets.ts'
import type { SnippetService } from '../../src/services/snippets/snippet-service.ts'
import { memoryActionCache } from '../../src/storage/memory-action-cache.ts'
import { startGrid, type TestGrid } from '../workers/grid.ts'
import { speakingWorker } from '../workers/worker-here.ts'

export interface DropInGrid extends TestGrid {
  readonly service: SnippetService
  /** In the form `http://127.0.0.1:…`. */
  readonly url: string
}

/** Languages that every machine has on which the tests run. */
const SPOKEN = ['python', 'bash', 'c']

/** The default is long, so that a machine that is slow for a moment does not disconnect clients. */
export async function dropInGrid({ initMs = 20_000 }: Pick<PistonConnectOptions, 'initMs'> = {}): Promise<DropInGrid> {
  const grid = await startGrid()
  const { engine, blobs } = grid
  const languages = loadLanguages().filter(({ name }) => SPOKEN.includes(name))
  const instance = { blobs, uploads: blobs, actions: memoryActionCache(), unnamedFunction: 'sha256' } as const
  const instances = () => instance
  const clock = systemClock
  const service = snippetService({
    engine,
    instances,
    languages,
    lower: snippetTask,
    clock,
    newId: randomUUID,
    callbacks: {
      log: memoryDeliveryLog(),
      addresses: anyAddress,
      delaysMs: [20, 200],
      body: callbackBody,
      forms: { [JUDGE0_FORM]: judge0Form({ instances }) },
    },
  })
  const ending = new AbortController()
  const app = httpDoor({
    errorShapes: [snippetError, pistonError, judge0Error],
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    metricsContentType: 'text/plain',
    allowedHosts: [],
    allowedOrigins: [],
    version: '1.2.3',
    log: silentLog,
  })
  const scopeOf = () => ({ caller: LOCAL_CALLER, instance: '' })
  const shared = { service, instances, scopeOf, clock, ending: ending.signal }
  app.route('/', pistonDoor(shared))
  const { figures } = engine
  app.route('/', judge0Door({ ...shared, version: '1.2.3', figures, callbacks: { addresses: anyAddress } }))
  const sockets = pistonConnect({ service, scopeOf, input: engine.input, clock, initMs })
  const http = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock, log: silentLog, sockets })
  onTestFinished(async () => {
    ending.abort()
    service.close()
    await http.close(0)
  })
  await speakingWorker(grid, languages)
  return { ...grid, service, url: `http://${http.address}` }
}
