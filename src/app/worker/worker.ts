import { randomBytes } from 'node:crypto'
import { arch, availableParallelism, hostname, platform, totalmem } from 'node:os'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { PLACES_PROPERTY } from '../../model/command-task.ts'
import type { IsolationLevel } from '../../model/isolation.ts'
import type { Language } from '../../model/language.ts'
import { INTERACTIVE_PROPERTY } from '../../model/live-input.ts'
import { IMAGE_PROPERTY, IMAGELESS_PROPERTY } from '../../model/properties/image-need.ts'
import { NETWORK_PROPERTY } from '../../model/properties/network-grants.ts'
import type { NamedValue, WorkerRegistration } from '../../wire/workers/registration.ts'
import { attemptPipeline } from '../../worker/attempt/pipeline.ts'
import { runLease } from '../../worker/attempt/run-lease.ts'
import { type Daemon, startDaemon } from '../../worker/daemon.ts'
import { mustHaveSpace, selfCheck } from '../../worker/daemon-check.ts'
import { daemonOnceReached } from '../../worker/daemon-once-reached.ts'
import { reachStore } from '../../worker/reach-store.ts'
import { type Backend, takesImages } from '../config/backends.ts'
import type { Config } from '../config/config.ts'
import { version } from '../process/version.ts'
import { openWorkerLanguages, type SpokenLanguages, type WorkerLanguages } from './languages.ts'
import { readTls } from './target.ts'
import { openWorkerTools, type WorkerTools, type WorkerToolsOptions } from './tools.ts'
import { commandUser } from './user.ts'
import { openWarmRooms, type WorkerWarmRooms } from './warm-rooms.ts'
import { openWays, type WorkerWays } from './ways.ts'
import { holdWorkFolder } from './work-folder.ts'

export interface RunningWorker {
  readonly id: string
  readonly slots: number
  /** Resolves when the server ended the worker; rejects when the server refuses it. */
  readonly ended: Promise<void>
  /** New connections use the current certificates and keys from these files. Throws when one cannot be read. */
  reloadTls(files: Config['worker']['tls']): void
  /** Accepts no new tasks, waits for running tasks up to the configured time, and deregisters. */
  stop(): Promise<void>
  /** The machine is being preempted: its tasks are assigned to other workers at once. */
  preempt(): Promise<void>
}

/** The registration that the server has for this worker. */
export interface RegisteredWorker extends SpokenLanguages {
  readonly worker: string
  readonly slots: number
}

export interface WorkerSurroundings {
  readonly clock: Clock
  readonly log: Log
  readonly env: Readonly<Record<string, string | undefined>>
  /** The languages that it may offer if they work here; none by default. */
  readonly languages?: readonly Language[]
  /** Called after each accepted registration, with the languages it contained. */
  readonly registered?: ((as: RegisteredWorker) => void) | undefined
  /** Called with the cause when the server cannot be reached at first; the worker tries again. */
  readonly waits?: ((what: string) => void) | undefined
}

/** Builds all components of a worker and checks them before it requests work. It may start before its server. */
export async function startWorker(
  config: Config,
  { clock, log: outer, env, languages = [], registered, waits }: WorkerSurroundings,
): Promise<RunningWorker> {
  const { worker: settings, server } = config
  const id = settings.worker_id ?? `${hostname()}-${randomBytes(3).toString('hex')}`
  const slots = settings.max_concurrent_tasks ?? availableParallelism()
  const log = outer.child({ worker: id })
  const user = commandUser(settings.host.user ?? accountFor(settings.backend), process.getuid?.() ?? 0)
  const opened = new AsyncDisposableStack()
  try {
    const folder = holdWorkFolder({ named: settings.host.work_dir, dataDir: server.data_dir, pid: process.pid, user })
    opened.defer(folder.release)
    await mustHaveSpace({ folder: folder.path, leastFreeBytes: settings.host.min_free_bytes })
    // Keeps the process alive while a worker waits for its server.
    const alive = setInterval(() => {}, 2 ** 30)
    opened.defer(() => clearInterval(alive))
    const ways = opened.adopt(openWays(settings, { clock, env }), ({ close }) => close())
    const { network } = config.execution
    const here = { settings, id, folder: folder.path, user, cas: ways.cas, network }
    const tools = opened.adopt(await openToolsOf(here, { clock, env }), ({ close }) => close())
    const { runtime } = tools
    const probe = await selfCheck(runtime)
    const { notes, isolation } = probe
    for (const note of notes) log.info({ runtime: runtime.name }, note)
    log.info({ slots, isolation, folder: folder.path, server: settings.server_url }, 'worker ready')
    const room = { least: leastRoom(config), probe, here: tools.offline(), roomName }
    const spoken = openWorkerLanguages({ ...room, languages, server, clock, log })
    opened.defer(spoken.close)
    const warm = openWarmRooms({ wanted: settings.warm_interpreters, slots, spoken, here: tools.of(''), clock, log })
    opened.defer(warm.close)
    const offers = { isolation, isControllable: probe.keeps.control, hasNetwork: await hasNetwork(probe, network, log) }
    const parts = { ...{ settings, id, slots, tools, ways }, ...offers, languages: spoken, warm }
    const contact = { store: ways.firstContact ?? tools.store(''), storeName: ways.casName, random: Math.random }
    const daemon = daemonOnceReached(
      () => work(parts, { clock, log, registered }),
      (signal) => reachStore({ ...contact, clock, log, waits }, signal),
    )
    spoken.begin(() => daemon.offerAgain())
    let closed: Promise<void> | undefined
    const close = (): Promise<void> => (closed ??= opened.disposeAsync()) // a second caller waits for the first
    const ended = daemon.ended.finally(close)
    ended.catch(() => {}) // reported to each caller of `ready`
    const reloadTls = (files: Config['worker']['tls']): void => ways.setTls(readTls(files))
    const stop = (): Promise<void> => daemon.stop().finally(close)
    return { id, slots, ended, reloadTls, stop, preempt: () => daemon.preempt().finally(close) }
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

interface ToolParts extends Pick<WorkerToolsOptions, 'folder' | 'user' | 'cas' | 'network'> {
  readonly settings: Config['worker']
  readonly id: string
}

const openToolsOf = (
  { settings, id, folder, user, cas, network }: ToolParts,
  { clock, env }: Pick<WorkerSurroundings, 'clock' | 'env'>,
): Promise<WorkerTools> =>
  openWorkerTools({
    worker: id,
    backend: settings.backend,
    folder,
    cacheBytes: settings.host.cache_bytes,
    // Another user cannot enter the worker's home directory, so HOME is passed only if the operator lists it.
    env: passedOn(settings.host.env_whitelist ?? (user === undefined ? ['PATH', 'HOME'] : ['PATH']), env),
    usesSandbox: settings.host.use_sandbox,
    user,
    firstRoomUser: settings.host.first_room_user,
    containers: settings.docker,
    network,
    defaults: settings,
    surroundings: env,
    cas,
    clock,
  })

/**
 * A network grant that this machine cannot fulfil is dropped here: tasks that use a network are not sent to this
 * worker.
 */
async function hasNetwork(
  { networkProblem }: Probed,
  { allow }: Config['execution']['network'],
  log: Log,
): Promise<boolean> {
  const reason = await networkProblem()
  if (reason === undefined) return true
  log[allow.length > 0 ? 'warn' : 'info']({ reason }, 'tasks that use a network are not offered a room here')
  return false
}

type Probed = Awaited<ReturnType<typeof selfCheck>>

/** The isolation required for untrusted code. */
const leastRoom = ({ snippets }: Config): IsolationLevel => (snippets.allow_bare ? 'none' : 'namespaces')

let trials = 0
const roomName = (): string => `language-${process.pid}-${++trials}`

interface Parts {
  readonly settings: Config['worker']
  readonly id: string
  readonly slots: number
  readonly tools: WorkerTools
  readonly ways: WorkerWays
  readonly isolation: IsolationLevel
  /** Running commands can be controlled. */
  readonly isControllable: boolean
  /** Rooms can have a network, where a task may use one. */
  readonly hasNetwork: boolean
  readonly languages: WorkerLanguages
  readonly warm: WorkerWarmRooms
}

function work(
  { settings, id, slots, tools, ways, isolation, isControllable, hasNetwork, languages, warm }: Parts,
  { clock, log, registered }: Pick<WorkerSurroundings, 'clock' | 'log' | 'registered'>,
): Daemon {
  let rooms = 0
  let spoken = languages.spoken()
  const said = registrationOf({ settings, id, slots, isolation, hasNetwork })
  const link = ways.link(id, hostname())
  const pipelineOf = remembering(MOST_INSTANCES, (instance) => {
    const { tools: all, source } = warm.within(languages.within(tools.of(instance)))
    return { executor: attemptPipeline(all), source }
  })
  const canBeTypedTo = isControllable && link.inputTaken !== undefined
  return startDaemon({
    link,
    clock,
    log,
    registration: {
      ...said,
      get platform() {
        const typing = canBeTypedTo ? [{ name: INTERACTIVE_PROPERTY, value: 'yes' }] : []
        spoken = languages.spoken()
        return [...languages.properties(), ...typing, ...said.platform]
      },
    },
    registered: () => registered?.({ worker: id, slots, ...spoken }),
    run: ({ lease, begun }, hooks, signal) => {
      const name = `room-${process.pid}-${++rooms}`
      const results = link.stageResults(lease.attemptId)
      const attempt = { name, hooks, results, ...(lease.prefetch && { begun }) }
      return runLease({ lease, ...pipelineOf(lease.instance), ...attempt }, signal)
    },
    heartbeatMs: settings.heartbeat_interval_seconds * 1000,
    drainMs: settings.drain_timeout_seconds * 1000,
    preemptMs: settings.drain_seconds * 1000,
    load: settings.report_load ? tools.load : () => undefined,
  })
}

/**
 * The maximum number of remembered instances, because clients choose their names. Removing one loses only its cached
 * directories.
 */
const MOST_INSTANCES = 64

/** Returns the same value for the same key, for the most recently used keys. */
function remembering<T>(most: number, make: (key: string) => T): (key: string) => T {
  const made = new Map<string, T>()
  return (key) => {
    const known = made.get(key) ?? make(key)
    made.delete(key) // the last entry of the map is the most recently used
    made.set(key, known)
    const [oldest] = made.keys()
    if (made.size > most && oldest !== undefined) made.delete(oldest)
    return known
  }
}

const registrationOf = ({
  settings,
  id,
  slots,
  isolation,
  hasNetwork,
}: Pick<Parts, 'settings' | 'id' | 'slots' | 'isolation' | 'hasNetwork'>): Omit<WorkerRegistration, 'running'> => ({
  worker: id,
  slots,
  resources: { cpu: availableParallelism(), memoryBytes: totalmem() },
  platform: pairs({
    ...machine(),
    isolation,
    ...(hasNetwork && { [NETWORK_PROPERTY]: 'yes' }),
    ...(takesImages(settings.backend) && { [IMAGE_PROPERTY]: '*' }),
    ...(takesImages(settings.backend) && settings.docker.image === undefined && { [IMAGELESS_PROPERTY]: 'no' }),
    ...(settings.backend === 'docker' && { [PLACES_PROPERTY]: 'yes' }),
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

/** The property names that build tools use. */
const machine = (): Record<string, string> => ({
  OSFamily: ({ linux: 'Linux', darwin: 'macOS' } as Record<string, string>)[platform()] ?? platform(),
  Arch: ({ x64: 'x86_64', arm64: 'aarch64' } as Record<string, string>)[arch()] ?? arch(),
  ISA: ({ x64: 'x86-64', arm64: 'arm-a64' } as Record<string, string>)[arch()] ?? arch(),
})

/** Apptainer requires a user with an account; only root can choose one. */
const accountFor = (backend: Backend): string | undefined =>
  backend === 'apptainer' && process.getuid?.() === 0 ? '65534' : undefined

const passedOn = (names: readonly string[], env: WorkerSurroundings['env']): NamedValue[] =>
  names.flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [{ name, value }]
  })
