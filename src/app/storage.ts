import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Instance, Instances } from '../doors/reapi/instances.ts'
import { alwaysHoldingEmptyBlob } from '../storage/always-holding-empty-blob.ts'
import { threadPool } from '../storage/bulk/thread-pool.ts'
import { metered, type StoreMeter } from '../storage/metered.ts'
import { packedActionCache } from '../storage/packed-action-cache.ts'
import { nodeFiles } from '../storage/packs/node-files.ts'
import type { PackEvents } from '../storage/packs/pack-events.ts'
import { type PackFigures, packStore } from '../storage/packs/pack-store.ts'
import { verifying } from '../storage/verifying.ts'
import type { Config } from './config.ts'

/** Hashing and unpacking beside the main thread; more would only contend with it on small machines. */
const BULK_THREADS = 1

export interface Storage {
  readonly instances: Instances
  figures(): PackFigures
  close(): Promise<void>
}

export interface StorageTools {
  readonly clock: Clock
  readonly log: Log
  readonly meter: StoreMeter
}

/** The stores as configured; the stack of each space reads from the disk up. */
export async function openStorage(config: Config, { clock, log, meter }: StorageTools): Promise<Storage> {
  const { cas, spaces, digest_functions } = config.storage
  const packs = await packStore({
    files: nodeFiles(cas.root_dir ?? join(config.server.data_dir, 'cas'), process.pid),
    clock,
    events: loggedEvents(log),
    durability: cas.durability,
    maxBytes: cas.max_bytes,
    packBytes: cas.pack_bytes,
    verifyReads: cas.verify_reads,
    scrubBytesPerSecond: cas.scrub_bytes_per_second,
  })
  const bulk = threadPool(BULK_THREADS)
  const actions = packedActionCache(packs.values())

  const made = new Map<number, Pick<Instance, 'blobs' | 'uploads'>>()
  const storesOf = (space: number) => {
    const known = made.get(space)
    if (known !== undefined) return known
    const blobs = metered(meter, clock)(alwaysHoldingEmptyBlob(packs.space(space)))
    const stores = { blobs, uploads: verifying(bulk)(blobs) }
    made.set(space, stores)
    return stores
  }
  const usual: Instance = { ...storesOf(0), actions, unnamedFunction: 'sha256' }
  const special = new Map<string, Instance>()
  for (const name of new Set([...Object.keys(spaces), ...Object.keys(digest_functions)])) {
    const unnamedFunction = digest_functions[name] ?? 'sha256'
    special.set(name, { ...storesOf(spaces[name] ?? 0), actions, unnamedFunction })
  }

  return {
    instances: (name) => special.get(name) ?? usual,
    figures: packs.figures,
    async close() {
      await packs.close()
      await bulk.close()
    },
  }
}

const loggedEvents = (log: Log): PackEvents => ({
  recovered: (report) => log.info({ ...report }, 'opened the blob store'),
  reclaimed: (event) => log.info({ ...event }, 'reclaimed disk space'),
  lost: (blobs) => log.error({ blobs }, 'blobs went bad on disk, and are gone'),
  scrubbed() {},
  failed: (error, doing) => log.error({ err: error, doing }, 'the blob store could not do its work'),
})
