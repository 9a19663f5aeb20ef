import { type ChildProcess, spawn } from 'node:child_process'
import type { Clock } from '../../base/clock.ts'
import type { TerminalSize } from '../../model/live-input.ts'
import type { RoomGroup, RoomGroups } from '../cgroups/room-groups.ts'
import type { Warmth } from '../cgroups/warmth.ts'
import { commandProcess, terminalOf } from '../processes/command-processes.ts'
import { MARKER, startOf } from '../processes/marked-processes.ts'
import { initBelow, RoomInitWatch } from '../processes/room-init.ts'
import type { SendSignal } from '../processes/send-signal.ts'
import { watchDisk } from './disk-watch.ts'
import type { LaunchRecord, LaunchRecords } from './launch-records.ts'
import type { Launch, LaunchExit, LaunchListener, LaunchSpec } from './launcher.ts'
import type { PipePool } from './pipe-pool.ts'
import { type ProcessStreams, processStreams } from './process-streams.ts'
import { groupTree, markedTree, type ProcessTree, roomTree } from './process-tree.ts'
import { watchLimits } from './watch-limits.ts'

/** Rounds of killing, a few milliseconds apart, until the remaining processes count as unkillable. */
const KILL_ROUNDS = 400
const MOST_PAUSE_MS = 25
/** Rounds of waiting until the kernel has removed dead processes. */
const REMOVE_ROUNDS = 100
/** When all processes are dead the output ends at once, unless a process outside the launch inherited it. */
const DRAIN_MS = 1000
/** Polls, a few milliseconds apart, for a command that is about to start. */
const LOOK_ROUNDS = 200
const LOOK_MS = 5

/** The parts of a launcher that its launches share. */
export interface LaunchTools {
  readonly groups: RoomGroups | undefined
  readonly warmth: Warmth | undefined
  readonly pipes: PipePool
  readonly records: LaunchRecords
  readonly after: Clock['after']
  readonly monotonic: Clock['monotonic']
  readonly pause: (ms: number) => Promise<void>
  readonly send: SendSignal
  readonly markerPrefix: string
}

/** One launch, from the start of its first process to the death of its last. */
export class LocalLaunch implements Launch {
  readonly #order: LaunchSpec
  readonly #tools: LaunchTools
  readonly #listener: LaunchListener
  readonly #record: LaunchRecord
  readonly #room: RoomInitWatch
  readonly #over = Promise.withResolvers<void>()
  readonly #begun = Promise.withResolvers<void>()
  readonly #released = Promise.withResolvers<void>()
  #streams: ProcessStreams | undefined
  #tree: ProcessTree | undefined
  #leader: number | undefined
  #startedAt = 0
  #size: TerminalSize | undefined
  #overLimit: LaunchExit['over']
  #isEnding = false
  #isStopped = false

  constructor(order: LaunchSpec, tools: LaunchTools, listener: LaunchListener) {
    this.#order = order
    this.#tools = tools
    this.#listener = listener
    this.#record = tools.records.open()
    this.#room = new RoomInitWatch((init) => this.#record.init(init), tools.send)
  }

  begin(): void {
    const warm = this.#tools.warmth?.ready()
    if (warm === undefined) this.#start()
    else void warm.then(() => this.#start())
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#streams === undefined) await this.#begun.promise // input may arrive before the process has started
    await this.#streams?.write(bytes)
  }

  endInput(): void {
    if (this.#streams === undefined) void this.#begun.promise.then(() => this.#streams?.endInput())
    else this.#streams.endInput()
  }

  stop(): void {
    this.#isStopped = true
    this.#tree?.kill()
  }

  signal(name: NodeJS.Signals): void {
    void this.#whenThere(() => {
      const target = this.#target()
      if (target !== undefined) this.#tools.send(target, name)
      return target !== undefined
    })
  }

  resize(size: TerminalSize): void {
    this.#size = size
    void this.#whenThere(() => {
      if (this.#size !== size) return true // a newer size arrived while this one waited
      const terminal = terminalOf(this.#tree?.pids() ?? [])
      if (terminal === undefined) return false
      this.#streams?.writeTerminal(`/dev/pts/${terminal.number} ${size.rows} ${size.columns}\n`)
      return true
    })
  }

  release(): void {
    this.#startedAt = this.#tools.monotonic()
    this.#released.resolve()
  }

  /** A negative pid names a process group. */
  #target(): number | undefined {
    const { hasTerminal = false, depth = 0 } = this.#order
    // Before the status arrives, the program that makes the room has other children.
    if (this.#leader === undefined || this.#streams?.hasStatusText() !== true) return undefined
    if (!hasTerminal) return commandProcess(this.#leader, depth)
    const terminal = terminalOf(this.#tree?.pids() ?? [])
    return terminal && -terminal.foreground
  }

  async #whenThere(act: () => boolean): Promise<void> {
    await this.#begun.promise
    for (let round = 0; round < LOOK_ROUNDS && !this.#isEnding && !this.#isStopped; round++) {
      if (act()) return
      await this.#tools.pause(LOOK_MS)
    }
  }

  /** Resolves when everything is removed, a little after the end was reported. */
  get over(): Promise<void> {
    return this.#over.promise
  }

  #start(): void {
    let group: RoomGroup | undefined
    try {
      group = this.#tools.groups?.create(this.#order.limits)
      const flooded = (): void => this.#exceeded('output')
      const status = (text: string): void => this.#roomStatus(text)
      const streams = processStreams(this.#order, this.#tools.pipes, { listener: this.#listener, flooded, status })
      this.#streams = streams
      const start = (): ChildProcess => this.#spawn(streams)
      const child = group === undefined ? start() : group.forkInside(start)
      streams.started(child)
      child.once('error', (error: NodeJS.ErrnoException) => this.#refuse(error, group))
      if (child.pid !== undefined) this.#follow(child, child.pid, group)
    } catch (error) {
      // Reported asynchronously, like every other end: the caller has the launch before the listener is called.
      queueMicrotask(() => this.#refuse(error as NodeJS.ErrnoException, group))
    } finally {
      this.#begun.resolve()
    }
  }

  #spawn(streams: ProcessStreams): ChildProcess {
    const { argv, env, cwd, user, name } = this.#order
    this.#startedAt = this.#tools.monotonic()
    const mark = this.#tools.groups === undefined ? [[MARKER, this.#tools.markerPrefix + name] as const] : []
    return spawn(argv[0] as string, argv.slice(1), {
      cwd,
      env: Object.fromEntries([...env, ...mark]),
      ...user,
      detached: true, // its own session: without our terminal, and without signals for us
      stdio: streams.stdio,
    })
  }

  #follow(child: ChildProcess, leader: number, group: RoomGroup | undefined): void {
    const { send, markerPrefix } = this.#tools
    const mark = markerPrefix + this.#order.name
    const since = startOf(leader)
    const all = group ? groupTree(group) : markedTree({ mark, leader, since }, send)
    const tree = roomTree(all, this.#room, group !== undefined)
    this.#tree = tree
    this.#leader = leader
    if (group === undefined) this.#record.leader({ pid: leader, startedAt: since })
    if (this.#order.hidesInit === true) void this.#whenThere(() => this.#findInit(leader))
    child.once('exit', (code, signal) => void this.#end(tree, { code, signal }))
    if (this.#isStopped) tree.kill() // stopped before the process was started
    queueMicrotask(() => this.#listener.started())
    // Nothing runs in a held launch, and polling several of them would cost CPU.
    if (this.#order.isHeld === true) void this.#released.promise.then(() => this.#watch(tree))
    else this.#watch(tree)
  }

  #roomStatus(text: string): void {
    this.#room.readStatus(text)
    if (this.#isStopped) this.#room.kill() // the room's init was not known when it was stopped
  }

  #findInit(leader: number): boolean {
    this.#room.found(initBelow(leader))
    return this.#room.init !== undefined
  }

  #watch(tree: ProcessTree): void {
    const { pause } = this.#tools
    const isOver = (): boolean => this.#isEnding
    const { limits, folders = [] } = this.#order
    void watchLimits(limits, { tree, pause, isOver }, (limit) => this.#exceeded(limit))
    const { diskBytes: bytes } = limits
    if (bytes === undefined) return
    void watchDisk({ folders, bytes, pids: () => tree.pids(), pause, isOver }, () => this.#exceeded('disk'))
  }

  #exceeded(limit: NonNullable<LaunchExit['over']>): void {
    if (this.#isEnding) return
    this.#overLimit ??= limit
    this.#tree?.kill()
  }

  /** Called when the first process has ended. Kills the processes that it left behind. */
  async #end(tree: ProcessTree, { code, signal }: Pick<LaunchExit, 'code' | 'signal'>): Promise<void> {
    this.#isEnding = true
    const wallMs = this.#tools.monotonic() - this.#startedAt
    await this.#streams?.statusArrived(DRAIN_MS, this.#tools.after)
    this.#room.kill()
    const isQuiet = await this.#killRest(tree)
    const isDrained = await this.#streams?.drained(isQuiet ? DRAIN_MS : 0, this.#tools.after)
    const { outOfMemory, pidsRefused } = tree.events()
    const usage = tree.total()
    const over = this.#overLimit ?? (outOfMemory ? 'memory' : undefined)
    const hasSurvivors = !isQuiet || isDrained !== true
    const status = this.#streams?.status()
    const exit = { code, signal, over, status, pidsRefused, hasSurvivors, usage, wallMs }
    this.#listener.ended({ kind: 'exited', exit })
    // The end was reported before: the caller does not wait for this.
    await this.#remove(tree)
    if (isQuiet) this.#record.remove()
    this.#streams?.finish()
    this.#over.resolve()
  }

  /** Groups that cannot be removed are removed at the worker's next start. */
  async #remove(tree: ProcessTree): Promise<void> {
    for (let round = 0; round < REMOVE_ROUNDS; round++) {
      if (tree.remove()) return
      await this.#tools.pause(Math.min(2 + round, MOST_PAUSE_MS))
    }
  }

  async #killRest(tree: ProcessTree): Promise<boolean> {
    for (let round = 0; round < KILL_ROUNDS; round++) {
      if (tree.isEmpty()) return true
      tree.kill()
      await this.#tools.pause(Math.min(1 + round, MOST_PAUSE_MS))
    }
    return tree.isEmpty()
  }

  #refuse(error: NodeJS.ErrnoException, group: RoomGroup | undefined): void {
    group?.remove()
    this.#record.remove()
    this.#streams?.finish()
    this.#over.resolve()
    this.#listener.ended({ kind: 'refused', code: error.code ?? 'UNKNOWN', what: error.message })
  }
}
