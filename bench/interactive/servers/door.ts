/** A server with the interactive API and its minimal parts: engine, workers, service. */
import { randomUUID } from 'node:crypto'
import { systemClock } from '../../../src/app/process/clock.ts'
import { silentLog } from '../../../src/base/log.ts'
import { reapiDoor } from '../../../src/doors/grpc/cache/door.ts'
import { workersDoor } from '../../../src/doors/grpc/workers/door.ts'
import { httpDoor } from '../../../src/doors/http/server/http-door.ts'
import { listenHttp } from '../../../src/doors/http/server/listen.ts'
import { snippetError } from '../../../src/doors/http/snippets/problem.ts'
import { interactiveDoor } from '../../../src/doors/websocket/snippets/door.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { createServer } from '../../../src/grpc/server/server.ts'
import { loadLanguages } from '../../../src/languages/load-languages.ts'
import { snippetTask } from '../../../src/languages/snippet-task.ts'
import { LOCAL_CALLER } from '../../../src/model/caller.ts'
import { snippetService } from '../../../src/services/snippets/engine-snippets.ts'
import { memoryJournal } from '../../../src/storage/journal/memory-journal.ts'
import { memoryActionCache } from '../../../src/storage/memory-action-cache.ts'
import { memoryStore } from '../../../src/storage/memory-store.ts'
import { answerWith } from '../../child.ts'

export interface DoorAddresses {
  readonly grpc: string
  readonly http: string
}

async function serve(): Promise<DoorAddresses> {
  const clock = systemClock
  const engine = await createEngine({ journal: memoryJournal(), clock, newId: randomUUID, random: Math.random })
  const blobs = memoryStore()
  const instance = { blobs, uploads: blobs, actions: memoryActionCache(), unnamedFunction: 'sha256' } as const
  const instances = () => instance
  const grpc = createServer({
    services: [...reapiDoor({ instances, clock }), ...workersDoor({ service: engine.workers, clock })],
    timing: { now: clock.monotonic, after: clock.after },
  })
  const bound = await grpc.listen({ host: '127.0.0.1', port: 0 })
  const languages = loadLanguages().filter(({ name }) => name === 'bash')
  const service = snippetService({ engine, instances, languages, lower: snippetTask, clock, newId: randomUUID })
  const app = httpDoor({
    errorShapes: [snippetError],
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    metricsContentType: 'text/plain',
    allowedHosts: [],
    allowedOrigins: [],
    version: 'bench',
    log: silentLog,
  })
  const sockets = [
    interactiveDoor({ scopeOf: () => ({ caller: LOCAL_CALLER, instance: '' }), service, input: engine.input, clock }),
  ]
  const http = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock, sockets })
  return { grpc: `127.0.0.1:${'port' in bound ? bound.port : 0}`, http: http.address }
}

const served = serve()
answerWith(() => served)
