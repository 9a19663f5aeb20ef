import { randomBytes } from 'node:crypto'
import { arch, availableParallelism, hostname, loadavg, platform, totalmem } from 'node:os'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { IsolationLevel } from '../model/isolation.ts'
import type { NamedValue, WorkerRegistration } from '../wire/worker-registration.ts'
import { type Daemon, startDaemon } from '../worker/daemon.ts'
import { runLease } from '../worker/daemon-attempt.ts'
import { selfCheck } from '../worker/daemon-check.ts'
import { grpcLink } from '../worker/links/grpc-link.ts'
import { type Backend, takesImages } from './backends.ts'
import type { Config } from './config.ts'
import { version } from './version.ts'
import { holdWorkFolder } from './worker-folder.ts'
import { openChannels, type WorkerChannels } from './worker-target.ts'
import { openWorkerTools, type WorkerTools } from './worker-tools.ts'
import { commandUser } from './worker-user.ts'

export interface RunningWorker {
  readonly id: string
  readonly slots: number
  /** Resolves when the server told it to end, and it has; rejects when the server will not have it. */
  readonly ended: Promise<void>
  /** Takes nothing new, lets tasks finish for as long as is configured, and says goodbye. */
  stop(): Promise<void>
}

export interface WorkerSurroundings {
  readonly clock: Clock
  readonly log: Log
  readonly env: Readonly<Record<string, string | undefined>>
}

/** All parts of a worker, checked before it asks for work. */
export async function startWorker(
  config: Config,
  { clock, log: outer, env }: WorkerSurroundings,
): Promise<RunningWorker> {
  const { worker: settings, server } = config
  const id = settings.worker_id ?? `${hostname()}-${randomBytes(3).toString('hex')}`
  const slots = settings.max_concurrent_tasks ?? availableParallelism()
  const log = outer.child({ worker: id })
  const user = commandUser(settings.host.user ?? accountFor(settings.backend), process.getuid?.() ?? 0)
  const folder = holdWorkFolder({ named: settings.host.work_dir, dataDir: server.data_dir, pid: process.pid, user })
  const channels = openChannels(settings, clock)
  // Nothing else may do so while a worker waits for its server to come back.
  const alive = setInterval(() => {}, 2 ** 30)
  let tools: WorkerTools | undefined
  let closed: Promise<void> | undefined
  const closeAll = async (): Promise<void> => {
    await tools?.close()
    channels.close()
    folder.release()
    clearInterval(alive)
  }
  const close = (): Promise<void> => (closed ??= closeAll())
  try {
    tools = await openWorkerTools({
      worker: id,
      backend: settings.backend,
      folder: folder.path,
      cacheBytes: settings.host.cache_bytes,
      env: passedOn(settings.host.env_whitelist, user === undefined ? env : { ...env, HOME: undefined }),
      user,
      containers: settings.docker,
      surroundings: env,
      cas: channels.cas,
      clock,
    })
    const { notes, isolation } = await selfCheck({
      store: tools.store(''),
      storeName: channels.casName,
      runtime: tools.runtime,
      folder: folder.path,
      leastFreeBytes: settings.host.min_free_bytes,
    })
    for (const note of notes) log.info({ runtime: tools.runtime.name }, note)
    log.info({ slots, isolation, folder: folder.path, server: settings.server_url }, 'ready to work')
    const daemon = work({ settings, id, slots, tools, channels, isolation }, { clock, log })
    const ended = daemon.ended.finally(close)
    ended.catch(() => {}) // told to whoever asks
    return { id, slots, ended, stop: () => daemon.stop().finally(close) }
  } catch (error) {
    await close()
    throw error
  }
}

interface Parts {
  readonly settings: Config['worker']
  readonly id: string
  readonly slots: number
  readonly tools: WorkerTools
  readonly channels: WorkerChannels
  readonly isolation: IsolationLevel
}

function work(
  { settings, id, slots, tools, channels, isolation }: Parts,
  { clock, log }: Pick<WorkerSurroundings, 'clock' | 'log'>,
): Daemon {
  let rooms = 0
  return startDaemon({
    link: grpcLink({ channel: channels.server, clock, worker: id, random: Math.random }),
    clock,
    log,
    registration: registrationOf({ settings, id, slots, isolation }),
    run: ({ lease, begun }, hooks, signal) => {
      const room = `room-${process.pid}-${++rooms}`
      const here = tools.of(lease.instance)
      return runLease({ lease, here, hooks, room, ...(lease.prefetch && { begun }) }, signal)
    },
    heartbeatMs: settings.heartbeat_interval_seconds * 1000,
    drainMs: settings.drain_timeout_seconds * 1000,
    load: machineLoad,
  })
}

/** A machine whose processors are all busy does its work well; full is one with four times as much to do. */
const machineLoad = (): number => Math.min(1, (loadavg()[0] ?? 0) / (4 * availableParallelism()))

const registrationOf = ({
  settings,
  id,
  slots,
  isolation,
}: Pick<Parts, 'settings' | 'id' | 'slots' | 'isolation'>): Omit<WorkerRegistration, 'running'> => ({
  worker: id,
  slots,
  resources: { cpu: availableParallelism(), memoryBytes: totalmem() },
  platform: pairs({
    ...machine(),
    isolation,
    ...(takesImages(settings.backend) && { 'container-image': '*' }),
    ...settings.platform,
  }),
  prefetch: settings.prefetch_tasks ?? Math.floor(slots / 4),
  preemptible: settings.preemptible,
  version: version(),
  labels: pairs(settings.labels),
  group: settings.group,
  wantsSpec: true,
})

const pairs = (table: Readonly<Record<string, string>>): NamedValue[] =>
  Object.entries(table).map(([name, value]) => ({ name, value }))

/** In the words that build tools use. */
const machine = (): Record<string, string> => ({
  OSFamily: ({ linux: 'Linux', darwin: 'macOS' } as Record<string, string>)[platform()] ?? platform(),
  Arch: ({ x64: 'x86_64', arm64: 'aarch64' } as Record<string, string>)[arch()] ?? arch(),
  ISA: ({ x64: 'x86-64', arm64: 'arm-a64' } as Record<string, string>)[arch()] ?? arch(),
})

/** Apptainer wants somebody who is in the list of users; only root has a choice. */
const accountFor = (backend: Backend): string | undefined =>
  backend === 'apptainer' && process.getuid?.() === 0 ? '65534' : undefined

const passedOn = (names: readonly string[], env: WorkerSurroundings['env']): NamedValue[] =>
  names.flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [{ name, value }]
  })
