import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { httpCacheDoor } from '../../src/doors/http/cache/door.ts'
import { httpDoor } from '../../src/doors/http/server/http-door.ts'
import { listenHttp } from '../../src/doors/http/server/listen.ts'
import { httpWorkersDoor } from '../../src/doors/http/workers/door.ts'
import { websocketWorkers } from '../../src/doors/websocket/workers/door.ts'
import type { LocalWorkerService } from '../../src/engine/workers/worker-service.ts'
import { reportCheck } from '../../src/services/workers/report-check.ts'
import { threadPool } from '../../src/storage/bulk/thread-pool.ts'
import { memoryActionCache } from '../../src/storage/memory-action-cache.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import { verifying } from '../../src/storage/verification/verifying.ts'
import { type GridOptions, startGrid, type TestGrid } from '../workers/grid.ts'

export interface HttpGrid extends TestGrid {
  /** `http://127.0.0.1:12345` */
  readonly url: string
  readonly httpPort: number
  /** Announces that the server is about to stop. */
  leave(): void
  call(method: string, path: string, body?: unknown): Promise<Answer>
  /** The number of long polls for work that are waiting. */
  parked(): number
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly json: Json
}

/** JSON in which a test can look up any path. */
export interface Json {
  readonly [name: string]: Json
}

const bulk = threadPool(1)

/**
 * The same grid, with the HTTP and WebSocket APIs for workers and the HTTP API for blobs; it is closed at the end of
 * the test.
 */
export async function startHttpGrid(options: GridOptions & { readonly httpPort?: number } = {}): Promise<HttpGrid> {
  const { blobs = memoryStore(), clock = systemClock } = options
  const grid = await startGrid({ ...options, blobs })
  const ending = new AbortController()
  const uploads = verifying(bulk)(blobs)
  const instances = () => ({ blobs, uploads, actions: memoryActionCache(), unnamedFunction: 'sha256' }) as const
  const door = httpDoor({
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    metricsContentType: 'text/plain',
    allowedHosts: [],
    allowedOrigins: [],
    version: 'test',
    log: silentLog,
  })
  const { service, parked } = countingParked(grid.engine.workers)
  const checkReport = reportCheck({ service, instances })
  const workers = { service, clock, instances, newId: randomUUID, log: silentLog, checkReport }
  door.route('/', httpWorkersDoor({ ...workers, ending: ending.signal }))
  door.route('/', httpCacheDoor({ instances, clock: systemClock, log: silentLog }))
  const sockets = [websocketWorkers({ service, clock, ending: ending.signal })]
  const address = { host: '127.0.0.1', port: options.httpPort ?? 0 }
  const listener = await listenHttp(door, address, { clock: systemClock, sockets })
  const url = `http://${listener.address}`
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => (closed ??= listener.close(0))
  onTestFinished(close)
  return {
    ...grid,
    url,
    httpPort: Number(listener.address.split(':').at(-1)),
    leave: () => ending.abort(),
    kill() {
      grid.kill()
      void close()
    },
    call: (method, path, body) => call(`${url}${path}`, method, body),
    parked,
  }
}

function countingParked(inner: LocalWorkerService) {
  const waiting = new Set<object>()
  const service: LocalWorkerService = {
    ...inner,
    ask(question, answer) {
      const one = {}
      waiting.add(one)
      const withdraw = inner.ask(question, (leases) => {
        waiting.delete(one)
        answer(leases)
      })
      return () => {
        waiting.delete(one)
        withdraw()
      }
    },
  }
  return { service, parked: () => waiting.size }
}

async function call(url: string, method: string, body?: unknown): Promise<Answer> {
  const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers, ...sent })
  const text = await response.text()
  return { status: response.status, headers: response.headers, json: text === '' ? {} : JSON.parse(text) }
}
