import { join, resolve } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { StorageAdmin } from '../../doors/grpc/storage-admin/door.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { Instances } from '../../services/instances/instances.ts'
import type { ActionCache } from '../../storage/action-cache.ts'
import { threadPool } from '../../storage/bulk/thread-pool.ts'
import { metered, type StoreMeter } from '../../storage/metered.ts'
import { nodeFiles } from '../../storage/packs/node-files.ts'
import type { PackEvents } from '../../storage/packs/pack-events.ts'
import { type PackStore, packStore } from '../../storage/packs/pack-store.ts'
import type { PackFigures } from '../../storage/packs/reclaim-admin.ts'
import { zstdCompressors } from '../../storage/zstd-forms/zstd-compressors.ts'
import type { Config } from '../config/config.ts'
import { makeDataFolder } from '../process/data-folder.ts'
import { diskReserve } from './disk-reserve.ts'
import { serverSecret } from './server-secret.ts'
import { instancesOf, type OwnResults } from './storage-instances.ts'
import { openUpstreamStorage, type ReloadUpstreamTls } from './storage-upstream.ts'

/** Threads for hashing and decompression. On small machines more threads would compete with the main thread. */
const BULK_THREADS = 1
/** The maximum number of blobs that are compressed at the same time, on two of libuv's four threads. */
const COMPRESSED_AT_ONCE = 2

export interface Storage {
  readonly instances: Instances
  /** The caches in which the grid stores results, even where callers may not write. */
  readonly actionsOf: (instance: InstanceName) => ActionCache
  /** The caches in which the grid stores results of command tasks; callers cannot access them. */
  readonly ownResultsOf: (instance: InstanceName) => OwnResults
  /** Pins blobs that tasks need, in every space. */
  readonly pins: Pick<PackStore, 'pin' | 'unpin' | 'makeDurable'>
  readonly spaces: readonly number[]
  figures(): PackFigures
  /** Evicts blobs until the journal's reserve is free, or none is left to evict. */
  makeSpace(): Promise<void>
  /** For maintenance of the packs. */
  readonly admin: StorageAdmin
  readonly reloadUpstreamTls: ReloadUpstreamTls | undefined
  close(): Promise<void>
}

export interface StorageTools {
  readonly clock: Clock
  readonly log: Log
  readonly meter: StoreMeter
}

/** Opens the stores as configured. */
export async function openStorage(config: Config, { clock, log, meter }: StorageTools): Promise<Storage> {
  const { cas } = config.storage
  makeDataFolder(config.server.data_dir)
  const bulk = threadPool(BULK_THREADS)
  const compressors = zstdCompressors(COMPRESSED_AT_ONCE)
  const upstream = openUpstreamStorage(config.storage.upstream, { clock, log, bulk })
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
  const results = await openResults(config, { clock, log })
  const { instances, actionsOf, ownResultsOf } = instancesOf(config.storage, {
    packs,
    values: (results ?? packs).values(),
    unnamed: config.server.instance_name,
    bulk,
    compressors,
    upstream,
    metered: metered(meter, clock),
    secret: serverSecret(config.server.data_dir),
  })

  const folder = cas.root_dir ?? config.server.data_dir
  const reserve = diskReserve({ packs, folder, minFreeBytes: cas.min_free_bytes, clock, log })
  return {
    instances,
    actionsOf,
    ownResultsOf,
    pins: packs,
    spaces: [...new Set([0, ...Object.values(config.storage.spaces)])],
    figures: packs.figures,
    makeSpace: reserve.restore,
    admin: packs.admin,
    reloadUpstreamTls: upstream?.reloadTls,
    async close() {
      reserve.close()
      upstream?.close()
      await packs.close()
      await results?.close()
      await bulk.close()
      compressors.close()
    },
  }
}

/** Separate packs for results of actions; undefined when they are stored with the blobs. */
async function openResults(
  { storage: { cas, action_cache }, server }: Config,
  { clock, log }: Pick<StorageTools, 'clock' | 'log'>,
): Promise<PackStore | undefined> {
  const blobs = cas.root_dir ?? join(server.data_dir, 'cas')
  if (action_cache.root_dir === undefined || resolve(action_cache.root_dir) === resolve(blobs)) return undefined
  const { max_bytes: maxBytes } = action_cache
  return await packStore({
    files: nodeFiles(action_cache.root_dir, process.pid),
    clock,
    events: loggedEvents(log.child({ store: 'action cache' })),
    durability: cas.durability,
    maxBytes,
    packBytes: Math.min(cas.pack_bytes, Math.floor(maxBytes / 8)),
    verifyReads: cas.verify_reads,
    scrubBytesPerSecond: cas.scrub_bytes_per_second,
  })
}

const loggedEvents = (log: Log): PackEvents => ({
  recovered: (report) => log.info({ ...report }, 'opened the blob store'),
  truncated: (report) => log.error({ ...report }, 'pack file is truncated, blobs at its end are lost'),
  reclaimed: (event) => log.info({ ...event }, 'reclaimed disk space'),
  lost: (blobs) => log.error({ blobs }, 'blobs are corrupt on disk and were dropped'),
  scrubbed() {},
  failed: (error, doing) => log.error({ err: error, doing }, 'background work of the blob store failed'),
})
