import { silentLog } from '../../../base/log.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import { alwaysHoldingEmptyBlob } from '../../../storage/always-holding-empty-blob.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { threadPool } from '../../../storage/bulk/thread-pool.ts'
import { memoryActionCache } from '../../../storage/memory-action-cache.ts'
import { onlyComplete } from '../../../storage/only-complete.ts'
import { verifying } from '../../../storage/verification/verifying.ts'
import { manualClock } from '../../../testing/manual-clock.ts'
import { type HttpDoorOptions, httpDoor } from '../server/http-door.ts'
import { listenHttp } from '../server/listen.ts'
import { type HttpCacheOptions, httpCacheDoor } from './door.ts'

export interface TestCache {
  readonly url: string
  /** `127.0.0.1:8080` */
  readonly address: string
  readonly instances: Instances
  close(): Promise<void>
}

export interface TestCacheOptions extends Partial<HttpCacheOptions> {
  readonly door?: Partial<HttpDoorOptions>
}

/** The doors as in a server, on a store that the test chooses. Instance `b3` reads bare hashes as BLAKE3. */
export async function testCache(store: BlobStore, { door, ...options }: TestCacheOptions = {}): Promise<TestCache> {
  const bulk = threadPool(1)
  const blobs = alwaysHoldingEmptyBlob(store)
  const actions = onlyComplete(blobs)(memoryActionCache())
  const usual = { blobs, uploads: verifying(bulk)(blobs), actions, mayUpdateActions: true }
  const instances: Instances = (name) => ({ ...usual, unnamedFunction: name === 'b3' ? 'blake3' : 'sha256' })
  const app = httpDoor({
    readiness: () => ({ ready: true, reasons: [] }),
    metricsText: async () => '',
    metricsContentType: 'text/plain',
    allowedHosts: [],
    allowedOrigins: [],
    version: '1.2.3',
    log: silentLog,
    ...door,
  })
  app.route('/', httpCacheDoor({ instances, clock: manualClock(), log: silentLog, ...options }))
  const listener = await listenHttp(app, { host: '127.0.0.1', port: 0 }, { clock: manualClock() })
  return {
    url: `http://${listener.address}`,
    address: listener.address,
    instances,
    async close() {
      await listener.close(0)
      await bulk.close()
    },
  }
}
