/** bb_storage of Buildbarn; from PATH. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Contestant, Found } from '../contestant.ts'
import { findOnPath } from './on-path.ts'
import { freePort, spawnServer } from './spawned.ts'

const GiB = 2 ** 30
const ALLOWED = { allow: {} }
const DURABLE_AFTER = '300s'

/** As in Buildbarn's own deployment examples, with space for every upload of a run. */
const local = (folder: string, bytes: number, newBlocks: number) => ({
  local: {
    keyLocationMapOnBlockDevice: { file: { path: join(folder, 'keys'), sizeBytes: 64 * 2 ** 20 } },
    keyLocationMapMaximumGetAttempts: 8,
    keyLocationMapMaximumPutAttempts: 32,
    oldBlocks: 8,
    currentBlocks: 24,
    newBlocks,
    blocksOnBlockDevice: { source: { file: { path: join(folder, 'blocks'), sizeBytes: bytes } }, spareBlocks: 3 },
    persistent: { stateDirectoryPath: join(folder, 'state'), minimumEpochInterval: DURABLE_AFTER },
  },
})

const storageAt = (folder: string, bytes: number, newBlocks: number) => {
  mkdirSync(join(folder, 'state'), { recursive: true })
  return { backend: local(folder, bytes, newBlocks), getAuthorizer: ALLOWED, putAuthorizer: ALLOWED }
}

/**
 * The configuration of a bb_storage with its data in `folder`. With a scheduler, it forwards Execute to the scheduler.
 */
export function storageConfiguration(folder: string, port: number, scheduler?: string): object {
  return {
    contentAddressableStorage: { ...storageAt(join(folder, 'cas'), 20 * GiB, 3), findMissingAuthorizer: ALLOWED },
    actionCache: storageAt(join(folder, 'ac'), GiB / 4, 1),
    grpcServers: [{ listenAddresses: [`127.0.0.1:${port}`], authenticationPolicy: ALLOWED }],
    maximumMessageSizeBytes: 16 * 2 ** 20,
    executeAuthorizer: ALLOWED,
    supportedCompressors: ['ZSTD'],
    zstdPool: { maximumEncoders: 64, maximumDecoders: 64 },
    ...(scheduler !== undefined && { schedulers: { '': { endpoint: { address: scheduler } } } }),
  }
}

/** Buildbarn's programs have one argument: a file with their configuration. */
export function configured(folder: string, name: string, configuration: object): { args: string[]; folder: string } {
  const own = join(folder, name)
  mkdirSync(own, { recursive: true })
  const file = join(own, `${name}.json`)
  writeFileSync(file, JSON.stringify(configuration))
  return { args: [file], folder: own }
}

export async function findBbStorage(folder: string): Promise<Found> {
  const obtained = findOnPath({ name: 'bb_storage', home: 'github.com/buildbarn/bb-storage' })
  if ('absent' in obtained) return obtained
  const port = await freePort()
  const configuration = storageConfiguration(folder, port)
  const server = spawnServer({ program: obtained.program, ...configured(folder, 'bb_storage', configuration) })
  await server.listening(port)
  const contestant: Contestant = {
    name: 'bb_storage',
    durability: `written to a block of a large file; synced within ${DURABLE_AFTER}`,
    readCheck: 'none',
    command: 'bb_storage CONFIGURATION',
    port: () => port,
    usage: () => server.usage(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
  return { contestant }
}
