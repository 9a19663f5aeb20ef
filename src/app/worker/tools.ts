import { createHash, randomUUID } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { hostname, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { prepareHashing } from '../../base/hashing/create-hasher.ts'
import type { Channel } from '../../grpc/client/channel.ts'
import type { Limits } from '../../model/command.ts'
import type { Launcher } from '../../runtimes/launcher/launcher.ts'
import type { RoomUser } from '../../runtimes/open-runtime.ts'
import { limitedByDefault } from '../../runtimes/run/resource-limits.ts'
import type { Runtime } from '../../runtimes/run/runtime.ts'
import { spawner } from '../../runtimes/spawner/spawner.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { threadPool } from '../../storage/bulk/thread-pool.ts'
import { memoryStore } from '../../storage/memory-store.ts'
import { openUpstream } from '../../storage/upstream/upstream.ts'
import { upstreamStore } from '../../storage/upstream/upstream-store.ts'
import { gridAttempts } from '../../worker/attempt/grid-attempts.ts'
import type { AttemptTools } from '../../worker/attempt/pipeline.ts'
import { remoteTarget } from '../../worker/cas/remote-target.ts'
import type { BlobSource } from '../../worker/inputs/blob-source.ts'
import { openFileCache } from '../../worker/inputs/file-cache.ts'
import { safePlacement } from '../../worker/inputs/place-inputs.ts'
import { inputStage } from '../../worker/inputs/stage-inputs.ts'
import { storeSource } from '../../worker/inputs/store-source.ts'
import { outputCollector } from '../../worker/outputs/collect-outputs.ts'
import { type ReadyRooms, readyRooms } from '../../worker/ready/ready-rooms.ts'
import { openRooms, type Rooms } from '../../worker/rooms/rooms.ts'
import { type Backend, takesImages } from '../config/backends.ts'
import type { Config } from '../config/config.ts'
import { toolchainFolders } from '../process/language-folders.ts'
import { workerLoad } from './load.ts'
import { roomUsers } from './room-users.ts'
import { type BackendOptions, type OpenBackend, openBackend, openSandboxOrHost } from './runtime.ts'

export type StoresByInstance = (instance: string) => BlobStore

export interface WorkerToolsOptions {
  readonly worker: string
  readonly backend: Backend
  /** With the backend `host`: uses a sandbox if the machine has one. */
  readonly usesSandbox?: boolean
  /** The folder of this worker alone. */
  readonly folder: string
  readonly cacheBytes: number
  /** Default environment variables of commands. */
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly containers: Config['worker']['docker']
  readonly network: Config['execution']['network']
  /** Limits of commands that set none themselves. */
  readonly defaults: Pick<Config['worker'], 'default_memory_bytes' | 'default_processes'>
  /** Variables that locate container engines. */
  readonly surroundings: Readonly<Record<string, string | undefined>>
  /** The user that commands run as; undefined for the worker's own user. */
  readonly user: RoomUser | undefined
  /** The first of the rooms' users, where each room has one; undefined to derive one from the folder. */
  readonly firstRoomUser?: number | undefined
  /** A server, or the stores themselves. */
  readonly cas: Channel | StoresByInstance
  readonly clock: Clock
}

/** The parts that an attempt of one instance needs. */
export interface InstanceTools {
  readonly tools: AttemptTools
  readonly source: BlobSource
}

/** The parts that attempts of all instances share. */
export interface WorkerTools {
  readonly runtime: Runtime
  store(instance: string): BlobStore
  of(instance: string): InstanceTools
  /** The same rooms without a server: attempts here neither read nor store data there. */
  offline(): InstanceTools
  /**
   * Returns the load since the last call; see load.ts. Containers belong to their engine's groups, not to this
   * worker's, and are not included.
   */
  load(): number | undefined
  close(): Promise<void>
}

/** Limits for a tree that a client sent, and for the files that a command left. */
const RULES = { mostNodes: 1_000_000, absoluteSymlinks: 'allowed' } as const
const MOST_OUTPUT_BYTES = 64 * 1024 ** 3
const DIRECTORY_BYTES = 64 * 1024 * 1024
const STREAM_BYTES = 16 * 1024 * 1024
/** Standard output and error up to this length are inlined in the result. */
const INLINE_BYTES = 1024
const CAS_TIMEOUT_MS = 60_000
const BULK_THREADS = 2
/** The cache's part for tasks without an instance; no instance can have this name. */
const OFFLINE = '\0'

const SPAWNER = new URL('./spawner-process.ts', import.meta.url)
/** The same file in the published package. */
const SPAWNER_ENTRY = import.meta.url.endsWith('.ts') ? SPAWNER : new URL(SPAWNER.href.replace(/\.ts$/, '.js'))

export async function openWorkerTools(options: WorkerToolsOptions): Promise<WorkerTools> {
  const { worker, folder, user, clock, cas } = options
  await prepareHashing()
  const cache = await openFileCache(join(folder, 'cache'), options.cacheBytes)
  const bulk = threadPool(BULK_THREADS)
  const launcher = await openLauncher(join(folder, 'launcher'), clock)
  const { runtime, probe, close } = await openLimitedRuntime(options, launcher).catch(async (error: unknown) => {
    await launcher.close()
    await bulk.close()
    throw error
  })
  const rooms = await openRooms(join(folder, 'rooms'), roomUsers({ ...options, uid: process.getuid?.() ?? 0 }))
  const store = storesAt(cas, { clock, bulk })
  const ready = roomsReady(options, { rooms, runtime })

  const toolsOver = (instance: string, blobs: BlobStore): InstanceTools => {
    const source = storeSource(blobs)
    const placement = safePlacement(user, process.getuid?.() ?? 0)
    const files = placement === 'link' ? cache.of(instance) : cache // copies share no inode
    const staged = { source, cache: files, bulk, placement, user, rules: RULES, directoryBytes: DIRECTORY_BYTES }
    const outputs = outputCollector({ bulk, rules: { ...RULES, mostBytes: MOST_OUTPUT_BYTES } })
    const fixed = {
      ...gridAttempts,
      rooms,
      runtime,
      ...(ready && { ready }),
      outputs,
      clock,
      worker,
      limits: limitsOf(options),
      inlineBytes: INLINE_BYTES,
      isolation: probe.isolation,
    }
    return { source, tools: { ...fixed, inputs: inputStage(staged), target: remoteTarget(blobs) } }
  }
  return {
    runtime,
    store,
    of: (instance) => toolsOver(instance, store(instance)),
    offline: () => toolsOver(OFFLINE, memoryStore()),
    load: takesImages(options.backend) ? () => undefined : workerLoad(launcherName(join(folder, 'launcher')), clock),
    async close() {
      await ready?.close()
      await close()
      await launcher.close()
      await rooms.cleared()
      await cache.close()
      await bulk.close()
    },
  }
}

/** The number of prepared rooms; further tasks wait until theirs is made. */
const MOST_READY = 3

/** Only for the sandbox: there a shell that execs a command leaves no trace of itself. */
function roomsReady(options: WorkerToolsOptions, made: { rooms: Rooms; runtime: Runtime }): ReadyRooms | undefined {
  if (made.runtime.name !== 'sandbox') return undefined
  const namePrefix = `ready-${process.pid}`
  return readyRooms({ ...made, limits: limitsOf(options), most: MOST_READY, namePrefix, clock: options.clock })
}

/** A server for blobs, or the stores themselves. */
function storesAt(
  cas: WorkerToolsOptions['cas'],
  { clock, bulk }: { clock: Clock; bulk: ReturnType<typeof threadPool> },
): StoresByInstance {
  if (typeof cas === 'function') return cas
  const upstream = openUpstream({
    ...{ channel: cas, clock, timeoutMs: CAS_TIMEOUT_MS, newId: randomUUID, random: Math.random },
  })
  return (instance) => upstreamStore({ upstream, instance, bulk })
}

const openRuntimeFor = (options: WorkerToolsOptions, launcher: Launcher) => {
  const { backend, folder, user, env, clock, worker, containers, network, surroundings } = options
  const open = (given: BackendOptions): Promise<OpenBackend> =>
    backend === 'host' && options.usesSandbox === true ? openSandboxOrHost(given) : openBackend(backend, given)
  return open({
    worker,
    containers,
    network,
    surroundings,
    launcher,
    clock,
    env,
    outputBytes: STREAM_BYTES,
    folder: join(folder, 'runtime'),
    arch: process.arch,
    uid: process.getuid?.() ?? 0,
    user,
    readable: toolchainFolders(),
  })
}

async function openLimitedRuntime(options: WorkerToolsOptions, launcher: Launcher): Promise<OpenBackend> {
  const { default_memory_bytes: memory, default_processes: pids } = options.defaults
  const opened = await openRuntimeFor(options, launcher)
  const memoryBytes = memory ?? Math.floor(memoryHere() * DEFAULT_SHARE)
  return { ...opened, runtime: limitedByDefault(opened.runtime, { memoryBytes, pids }) }
}

/** The share of memory for commands without a limit; the rest is for everything else. */
const DEFAULT_SHARE = 0.75

/** The memory of the machine, or of the control group around this process if that is less; 0 for no limit. */
const memoryHere = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)

/** The maximum limits for containers of this worker, regardless of their tasks. */
function limitsOf({ backend, containers: { cpu_limit, memory_limit } }: WorkerToolsOptions): Limits {
  if (!takesImages(backend)) return {}
  return {
    ...(cpu_limit !== undefined && { cpus: cpu_limit }),
    ...(memory_limit !== undefined && { memoryBytes: memory_limit }),
  }
}

async function openLauncher(folder: string, clock: Clock): Promise<Launcher> {
  await mkdir(folder, { recursive: true, mode: 0o711 })
  return spawner({
    name: launcherName(folder),
    folder,
    useGroups: true,
    node: process.execPath,
    entry: SPAWNER_ENTRY,
    send: (pid, signal) => void process.kill(pid, signal),
    clock,
  })
}

/** Stable across restarts of one worker, so that the next process can clean up, and unique per worker. */
const launcherName = (folder: string): string =>
  createHash('sha256')
    .update(`${hostname()}:${realpathSync(folder)}`)
    .digest('hex')
    .slice(0, 16)
