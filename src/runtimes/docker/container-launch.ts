import { execFile } from 'node:child_process'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import type { Clock } from '../../base/clock.ts'
import { watchDisk } from '../launcher/disk-watch.ts'
import type { Launch, LaunchEnd, LaunchExit, LaunchLimits, LaunchListener, LaunchUsage } from '../launcher/launcher.ts'
import { markedTree, type ProcessTree } from '../launcher/process-tree.ts'
import { watchLimits } from '../launcher/watch-limits.ts'
import { startOf } from '../processes/marked-processes.ts'
import { tryRead } from '../processes/small-files.ts'
import { INIT } from './container-body.ts'
import type { ContainerTree } from './container-groups.ts'
import { ContainerOutput } from './container-output.ts'
import type { ContainerEngine, ContainerState } from './engine.ts'

export interface ContainerPlan {
  readonly name: string
  readonly body: object
  readonly hasInput: boolean
  readonly outputBytes: number
  readonly limits: LaunchLimits
  /**
   * Whether the engine limits memory. If so, usage is not sampled: sampling counts shared pages once per process and
   * would kill containers that are within their limit.
   */
  readonly isMemoryKept: boolean
  /** Counts from the start of the container, without the time that the engine needs to create it. */
  readonly wallMs: number | undefined
  /** The folders that count as the container's disk space. */
  readonly folders: readonly string[]
  /** Limits as arguments of prlimit(1), for an engine that does not apply them itself. */
  readonly prlimit: Prlimit | undefined
  /** Reads the control group around the container, where there is one. */
  readonly tree: ContainerTree | undefined
}

export interface Prlimit {
  readonly program: string
  readonly flags: readonly string[]
  /** The user of the engine: prlimit(1) must run as the same user. */
  readonly uid: number
  readonly gid: number
}

export interface ContainerTools {
  readonly engine: ContainerEngine
  readonly clock: Pick<Clock, 'after'>
}

/** The interval of polls for a container whose end the engine does not report. */
const LOOK_MS = 2000
/** The output ends a moment before the engine reports the end of the container. */
const END_ROUNDS = 200
const MOST_PAUSE_MS = 100
const KILL_ROUNDS = 100
const REMOVE_ROUNDS = 5
/**
 * Docker 20.10 under load starts a few containers before their root file system is mounted, or loses their
 * specification. The command has not run then, so the container is created again.
 */
const MOST_STARTS = 5

/** One container, from its creation to its removal. */
export class ContainerLaunch implements Launch {
  readonly #plan: ContainerPlan
  readonly #engine: ContainerEngine
  readonly #clock: ContainerTools['clock']
  readonly #listener: LaunchListener
  readonly #attached = Promise.withResolvers<Socket | undefined>()
  #id: string | undefined
  #socket: Socket | undefined
  #tree: ProcessTree | undefined
  #over: LaunchExit['over']
  #isRunning = false
  #isStopped = false
  #isEnded = false
  #isLate = false
  #forgetTime = (): void => {}

  constructor(plan: ContainerPlan, { engine, clock }: ContainerTools, listener: LaunchListener) {
    this.#plan = plan
    this.#engine = engine
    this.#clock = clock
    this.#listener = listener
    this.#tree = plan.tree
  }

  /** Never throws. The listener is called with the end after everything is removed. */
  async begin(): Promise<void> {
    let end: LaunchEnd
    try {
      end = await this.#live()
    } catch (error) {
      end = { kind: 'lost', what: error instanceof Error ? error.message : String(error) }
    }
    this.#isEnded = true
    this.#forgetTime()
    this.#attached.resolve(undefined)
    this.#socket?.destroy()
    await this.#remove()
    this.#plan.tree?.remove()
    this.#listener.ended(end)
  }

  async write(bytes: Uint8Array): Promise<void> {
    const socket = await this.#attached.promise
    await new Promise<void>((resolve) => {
      if (socket === undefined || socket.destroyed || !socket.writable) return resolve()
      // The command has ended and reads no more input, so pending writes resolve.
      socket.once('close', resolve)
      socket.write(bytes, () => {
        socket.off('close', resolve)
        resolve()
      })
    })
  }

  endInput(): void {
    void this.#attached.promise.then((socket) => socket?.end())
  }

  stop(): void {
    this.#isStopped = true
    if (this.#isRunning) void this.#kill()
  }

  /** Whether it was stopped because its time was up. */
  get isLate(): boolean {
    return this.#isLate
  }

  async #live(): Promise<LaunchEnd> {
    for (let starts = 1; ; starts++) {
      if (this.#isStopped) return killed
      const { id, socket, written, output } = await this.#create()
      if (this.#isStopped) return killed
      const problem = await this.#engine.start(id)
      if (problem === undefined) {
        this.#attached.resolve(socket)
        this.#hasStarted()
        await this.#watch(id)
        await Promise.race([written, this.#seenDead(id)])
        output.end()
        return this.#endOf(await this.#lastState(id))
      }
      const refusal = refusalOf(problem)
      if (refusal.code !== 'UNKNOWN' || starts === MOST_STARTS) return { kind: 'refused', ...refusal }
      socket.destroy()
      await this.#remove()
      await this.#pause(100 * starts)
    }
  }

  async #create() {
    const { name, body, hasInput, outputBytes, limits, prlimit } = this.#plan
    const id = await this.#engine.create(name, body)
    this.#id = id
    const socket = await this.#engine.attach(id, hasInput)
    this.#socket = socket
    const flooded = (): void => this.#exceeded('output')
    const floodBytes = limits.outputFloodBytes
    const output = new ContainerOutput({ listener: this.#listener, outputBytes, floodBytes, flooded })
    const written = new Promise<void>((resolve) => {
      socket.on('data', (bytes: Buffer) => output.push(bytes))
      socket.on('error', () => {}) // the close event reports the end
      socket.once('end', resolve)
      socket.once('close', resolve)
    })
    if (prlimit !== undefined) await this.#limit(id, prlimit)
    return { id, socket, written, output }
  }

  #hasStarted(): void {
    this.#isRunning = true
    if (this.#isStopped) void this.#kill() // stopped while it was being started
    this.#listener.started()
    this.#startTime()
  }

  /** After the attach its first process exists and waits for the start: limits that are set now are inherited. */
  async #limit(id: string, { program, flags, uid, gid }: Prlimit): Promise<void> {
    const { pid } = await this.#engine.state(id)
    if (!isFirstInside(pid)) throw new Error('the first process of the container is out of sight')
    await promisify(execFile)(program, ['--pid', `${pid}`, ...flags], { uid, gid, cwd: '/' })
  }

  #startTime(): void {
    const { wallMs } = this.#plan
    if (wallMs === undefined || this.#isStopped) return
    this.#forgetTime = this.#clock.after(wallMs, () => {
      this.#isLate = true
      this.stop()
    })
  }

  /** Watches the limits that the kernel does not enforce. */
  async #watch(id: string): Promise<void> {
    const { limits, folders, isMemoryKept } = this.#plan
    const { cpuMs, diskBytes: bytes, memoryBytes } = limits
    const isNeeded = cpuMs !== undefined || bytes !== undefined || memoryBytes !== undefined
    this.#tree ??= isNeeded ? treeOf(await this.#engine.state(id)) : undefined
    const tree = this.#tree
    if (tree === undefined) return
    const pause = (ms: number): Promise<void> => this.#pause(ms)
    const isOver = (): boolean => this.#isEnded
    const watched = isMemoryKept ? { ...limits, memoryBytes: undefined } : limits
    void watchLimits(watched, { tree, pause, isOver }, (limit) => this.#exceeded(limit))
    if (bytes === undefined) return
    void watchDisk({ folders, bytes, pids: () => tree.pids(), pause, isOver }, () => this.#exceeded('disk'))
  }

  /** A stream that stays open after its container ended would block forever. */
  async #seenDead(id: string): Promise<void> {
    for (let misses = 0; !this.#isEnded && misses < 2; ) {
      await this.#pause(LOOK_MS)
      if (this.#isEnded) return
      const state = await this.#engine.state(id).catch(() => undefined)
      if (state?.isRunning !== true) misses++
    }
  }

  async #lastState(id: string): Promise<ContainerState> {
    for (let round = 0; round < END_ROUNDS; round++) {
      const state = await this.#engine.state(id)
      if (!state.isRunning) return state
      await this.#pause(Math.min(2 + round, MOST_PAUSE_MS))
    }
    throw new Error('the engine of containers has lost the output of a container that still runs')
  }

  #endOf(state: ContainerState): LaunchEnd {
    const events = this.#tree?.events()
    const wasKilled = state.exitCode === 137 && !this.#isStopped && this.#over === undefined
    const wasShort =
      state.isOutOfMemory || events?.outOfMemory === true || (wasKilled && this.#plan.tree?.wasFull() === true)
    const over = this.#over ?? (wasShort && this.#plan.limits.memoryBytes !== undefined ? 'memory' : undefined)
    const usage = this.#tree?.total() ?? UNCOUNTED
    const pidsRefused = events?.pidsRefused === true
    return {
      kind: 'exited',
      exit: { code: state.exitCode, signal: null, over, pidsRefused, hasSurvivors: false, usage },
    }
  }

  #exceeded(limit: NonNullable<LaunchExit['over']>): void {
    if (this.#isEnded || this.#over !== undefined) return
    this.#over = limit
    void this.#kill()
  }

  /** Repeats until it ended: a busy engine may miss the first request. */
  async #kill(): Promise<void> {
    for (let round = 0; round < KILL_ROUNDS && !this.#isEnded && this.#id !== undefined; round++) {
      await this.#engine.kill(this.#id).catch(() => {})
      await this.#pause(Math.min(50 * (round + 1), 2000))
    }
  }

  /** A container that cannot be removed now is removed at the worker's next start, by its label. */
  async #remove(): Promise<void> {
    for (let round = 0; round < REMOVE_ROUNDS && this.#id !== undefined; round++) {
      const isGone = await this.#engine.remove(this.#id).then(
        () => true,
        () => false,
      )
      if (isGone) return
      await this.#pause(100 * (round + 1))
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve))
  }
}

const UNCOUNTED: LaunchUsage = {
  cpuUserMs: undefined,
  cpuSystemMs: undefined,
  peakMemoryBytes: undefined,
  how: 'sampled',
}

/** Stopped before it began. */
const killed: LaunchEnd = {
  kind: 'exited',
  exit: { code: null, signal: 'SIGKILL', over: undefined, pidsRefused: false, hasSurvivors: false, usage: UNCOUNTED },
}

/**
 * Returns its first process and all below it, if the pid is valid in our namespace: it must be pid 1 of a nested one.
 */
function treeOf({ pid }: ContainerState): ProcessTree | undefined {
  return isFirstInside(pid)
    ? markedTree({ mark: `container/${pid}`, leader: pid, since: startOf(pid) }, () => {})
    : undefined
}

const isFirstInside = (pid: number): boolean => pid > 1 && /^NSpid:.*\s1$/m.test(tryRead(`/proc/${pid}/status`))

const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/argument list too long/i, 'E2BIG'],
  [
    /executable file.* not found|exec: .*no such file or directory|stat .*: no such file or directory: unknown/i,
    'ENOENT',
  ],
  [/permission denied|is a directory/i, 'EACCES'],
  [/exec format error/i, 'ENOEXEC'],
]

/**
 * Returns the code UNKNOWN when the command did not cause the failure. The init is a file of the worker, and every
 * image can run it.
 */
export function refusalOf(what: string): { readonly code: string; readonly what: string } {
  const isOfInit = what.includes(`exec: "${INIT}"`) && !/argument list too long/i.test(what)
  const isOfCommand = /exec/i.test(what) && !isOfInit
  const [, code = 'UNKNOWN'] = REFUSALS.find(([pattern]) => isOfCommand && pattern.test(what)) ?? []
  return { code, what: code === 'UNKNOWN' ? what : `${what} (${code})` }
}
