/** A server with the code API, its engine on a journal, and workers over gRPC; its worker service is measured. */
import { randomUUID } from 'node:crypto'
import { systemClock } from '../../../src/app/process/clock.ts'
import { silentLog } from '../../../src/base/log.ts'
import { reapiDoor } from '../../../src/doors/grpc/cache/door.ts'
import { workersDoor } from '../../../src/doors/grpc/workers/door.ts'
import { httpDoor } from '../../../src/doors/http/server/http-door.ts'
import { listenHttp } from '../../../src/doors/http/server/listen.ts'
import { snippetsDoor } from '../../../src/doors/http/snippets/door.ts'
import { snippetError } from '../../../src/doors/http/snippets/problem.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { createServer } from '../../../src/grpc/server/server.ts'
import { loadLanguages } from '../../../src/languages/load-languages.ts'
import { snippetTaskUnder } from '../../../src/languages/snippet-task.ts'
import { LOCAL_CALLER } from '../../../src/model/caller.ts'
import { snippetService } from '../../../src/services/snippets/engine-snippets.ts'
import { sqliteJournal } from '../../../src/storage/journal/sqlite/sqlite-journal.ts'
import { memoryActionCache } from '../../../src/storage/memory-action-cache.ts'
import { memoryStore } from '../../../src/storage/memory-store.ts'
import { answerWith } from '../../child.ts'
import { timedDesk } from './timed-desk.ts'

export interface Addresses {
  readonly grpc: string
  readonly http: string
}

export type ServerQuestion = { readonly ask: 'open'; readonly folder: string } | { readonly ask: 'delays' }

/** The header with the tenant; elsewhere an API key identifies the tenant. */
export const TENANT = 'x-tenant'

async function serve(folder: string): Promise<Addresses & Pick<ReturnType<typeof timedDesk>, 'taken'>> {
  const clock = systemClock
  const journal = await sqliteJournal({ folder, owner: 'bench', pid: process.pid })
  const engine = await createEngine({ journal, clock, newId: randomUUID, random: Math.random })
  const timed = timedDesk(engine.workers)
  const blobs = memoryStore()
  const instance = { blobs, uploads: blobs, actions: memoryActionCache(), unnamedFunction: 'sha256' } as const
  const instances = () => instance
  const grpc = createServer({
    services: [...reapiDoor({ instances, clock }), ...workersDoor({ service: timed, clock })],
    timing: { now: clock.monotonic, after: clock.after },
  })
  const bound = await grpc.listen({ host: '127.0.0.1', port: 0 })
  const lower = snippetTaskUnder({ salt: randomUUID() })
  const service = snippetService({ engine, instances, languages: loadLanguages(), lower, clock, newId: randomUUID })
  const app = httpDoor({
    errorShapes: [snippetError],
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    ...{ metricsContentType: 'text/plain', allowedHosts: [], allowedOrigins: [], version: 'bench', log: silentLog },
  })
  const ending = new AbortController().signal
  const instanceIn = (c: { req: { header(name: string): string | undefined } }): string => c.req.header(TENANT) ?? ''
  app.route(
    '/',
    snippetsDoor({
      service,
      instances,
      clock,
      version: 'bench',
      ending,
      scopeOf: (c) => ({ caller: LOCAL_CALLER, instance: instanceIn(c) }),
    }),
  )
  const http = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock, sockets: [] })
  return {
    grpc: `127.0.0.1:${'port' in bound ? bound.port : 0}`,
    http: `http://${http.address}`,
    taken: () => timed.taken(),
  }
}

let served: ReturnType<typeof serve> | undefined
answerWith(async (question: ServerQuestion) => {
  if (question.ask === 'delays') return (await served)?.taken()
  served ??= serve(question.folder)
  const { grpc, http } = await served
  return { grpc, http } satisfies Addresses
})
