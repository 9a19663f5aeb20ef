/** Buildbarn: bb_storage, bb_scheduler, bb_worker and bb_runner from PATH. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { configured, storageConfiguration } from '../../cache/peers/bb-storage.ts'
import { findOnPath } from '../../cache/peers/on-path.ts'
import { freePort, type Spawned, spawnServer } from '../../cache/peers/spawned.ts'
import { PEER_PROGRAMS } from '../rows.ts'
import { type FoundGrid, gridOf } from './grid.ts'

const PROGRAMS = ['bb_storage', 'bb_scheduler', 'bb_worker', 'bb_runner'] as const
const MESSAGE_BYTES = 16 * 2 ** 20
const ALLOWED = { allow: {} }
const LEAST_RECENTLY_USED = 'LEAST_RECENTLY_USED'

export async function findBuildbarn(folder: string, slots: number): Promise<FoundGrid> {
  const absent = PROGRAMS.map((name) => findOnPath({ name, home: PEER_PROGRAMS[name] })).find(
    (each) => 'absent' in each,
  )
  if (absent !== undefined) return absent
  const ports = { storage: await freePort(), scheduler: await freePort(), workers: await freePort() }
  const build = join(folder, 'build')
  for (const place of [build, join(folder, 'cache')]) mkdirSync(place, { recursive: true })
  const processes: Spawned[] = []
  const start = (name: (typeof PROGRAMS)[number], configuration: object): void => {
    processes.push(spawnServer({ program: name, ...configured(folder, name, configuration) }))
  }
  start('bb_storage', storageConfiguration(folder, ports.storage, at(ports.scheduler)))
  start('bb_scheduler', schedulerConfiguration(ports))
  start('bb_runner', {
    buildDirectoryPath: build,
    grpcServers: [{ listenPaths: [socketIn(folder)], authenticationPolicy: ALLOWED }],
  })
  start('bb_worker', workerConfiguration(folder, { ...ports, slots }))
  const [storage, scheduler] = processes as [Spawned, Spawned]
  await storage.listening(ports.storage)
  for (const port of [ports.scheduler, ports.workers]) await scheduler.listening(port)
  return { grid: gridOf('buildbarn', ports.storage, processes) }
}

const at = (port: number): string => `127.0.0.1:${port}`
const socketIn = (folder: string): string => join(folder, 'runner.sock')
const storedAt = (port: number) => ({ grpc: { client: { address: at(port) } } })
const servedAt = (port: number) => [{ listenAddresses: [at(port)], authenticationPolicy: ALLOWED }]

interface Ports {
  readonly storage: number
  readonly scheduler: number
  readonly workers: number
}

const schedulerConfiguration = ({ storage, scheduler, workers }: Ports) => ({
  clientGrpcServers: servedAt(scheduler),
  workerGrpcServers: servedAt(workers),
  contentAddressableStorage: storedAt(storage),
  maximumMessageSizeBytes: MESSAGE_BYTES,
  executeAuthorizer: ALLOWED,
  modifyDrainsAuthorizer: ALLOWED,
  killOperationsAuthorizer: ALLOWED,
  synchronizeAuthorizer: ALLOWED,
  actionRouter: {
    simple: {
      platformKeyExtractor: { action: {} },
      initialSizeClassAnalyzer: { defaultExecutionTimeout: '1800s', maximumExecutionTimeout: '7200s' },
    },
  },
  platformQueueWithNoWorkersTimeout: '900s',
})

const workerConfiguration = (folder: string, { storage, workers, slots }: Ports & { slots: number }) => ({
  blobstore: { contentAddressableStorage: storedAt(storage), actionCache: storedAt(storage) },
  maximumMessageSizeBytes: MESSAGE_BYTES,
  scheduler: { address: at(workers) },
  buildDirectories: [
    {
      native: {
        buildDirectoryPath: join(folder, 'build'),
        cacheDirectoryPath: join(folder, 'cache'),
        maximumCacheFileCount: 10_000,
        maximumCacheSizeBytes: 2 ** 30,
        cacheReplacementPolicy: LEAST_RECENTLY_USED,
      },
      runners: [
        {
          endpoint: { address: `unix://${socketIn(folder)}` },
          concurrency: slots,
          maximumFilePoolFileCount: 10_000,
          maximumFilePoolSizeBytes: 2 ** 30,
          platform: {},
          workerId: { node: 'bench' },
        },
      ],
    },
  ],
  filePool: { blockDevice: { file: { path: join(folder, 'files'), sizeBytes: 2 ** 30 } } },
  inputDownloadConcurrency: 10,
  outputUploadConcurrency: 11,
  directoryCache: {
    maximumCount: 1000,
    maximumSizeBytes: 2 ** 20,
    cacheReplacementPolicy: LEAST_RECENTLY_USED,
  },
})
