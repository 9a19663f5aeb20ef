import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import type { Clock } from '../../src/base/clock.ts'
import { reapiDoor } from '../../src/doors/grpc/cache/door.ts'
import { createServer } from '../../src/grpc/server/server.ts'
import type { Instance } from '../../src/services/instances/instances.ts'
import { alwaysHoldingEmptyBlob } from '../../src/storage/always-holding-empty-blob.ts'
import { threadPool } from '../../src/storage/bulk/thread-pool.ts'
import { onlyComplete } from '../../src/storage/only-complete.ts'
import { nodeFiles } from '../../src/storage/packs/node-files.ts'
import { unheardEvents } from '../../src/storage/packs/pack-events.ts'
import { type PackStore, type PackStoreOptions, packStore } from '../../src/storage/packs/pack-store.ts'
import { packedActionCache } from '../../src/storage/packs/packed-action-cache.ts'
import { verifying } from '../../src/storage/verification/verifying.ts'
import { ownFolder } from './in-process.ts'

export interface PacksServer {
  readonly grpc: string
  /** The store behind the services, for operations that no service offers. */
  readonly packs: PackStore
}

export interface PacksServerOptions extends Partial<PackStoreOptions> {
  /** The services' clock; the store and the connections have the real one. */
  readonly doorClock?: Clock
}

/**
 * The services of the Remote Execution API on a pack store that the test can reach; all are closed at the end of the
 * test.
 */
export async function packsServer({ doorClock = systemClock, ...options }: PacksServerOptions): Promise<PacksServer> {
  const files = nodeFiles(ownFolder(), process.pid)
  const fixed = { files, clock: systemClock, events: unheardEvents, durability: 'process', maxBytes: 2 ** 40 } as const
  const packs = await packStore({ ...fixed, ...options })
  const bulk = threadPool(1)
  const blobs = alwaysHoldingEmptyBlob(packs.space(0))
  const actions = onlyComplete(blobs)(packedActionCache(packs.values()))
  const may = { unnamedFunction: 'sha256', mayUpdateActions: true } as const
  const instance: Instance = { blobs, uploads: verifying(bulk)(blobs), actions, ...may }
  const server = createServer({
    services: reapiDoor({ instances: () => instance, clock: doorClock }),
    timing: { now: systemClock.monotonic, after: systemClock.after },
  })
  const bound = await server.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    server.close()
    await packs.close()
    await bulk.close()
  })
  if (!('port' in bound)) throw new Error('no port')
  return { grpc: `127.0.0.1:${bound.port}`, packs }
}
