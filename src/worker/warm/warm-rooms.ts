import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Limits } from '../../model/command.ts'
import type { CommandTask } from '../../model/command-task.ts'
import { type Language, languageIn } from '../../model/language.ts'
import type { Room, Runtime } from '../../runtimes/run/runtime.ts'
import type { PreparedRoom, RoomPool } from '../rooms/prepared-room.ts'
import type { Rooms } from '../rooms/rooms.ts'
import { namedPipes } from './named-pipes.ts'
import { WaitingInterpreter } from './waiting-interpreter.ts'
import { WarmDemand } from './warm-demand.ts'
import { shapeKeyOf, type WarmShape, warmShape } from './warm-shape.ts'

export interface WarmRoomsOptions {
  readonly rooms: Rooms
  /** Makes rooms with namespaces, and finds the root file systems of languages. */
  readonly runtime: Runtime
  /** Keyed by name. Tasks in other languages are not served. */
  readonly languages: ReadonlyMap<string, Language>
  /** The upper limits of this worker, for every task. */
  readonly limits: Limits
  /** The maximum number of waiting interpreters. */
  readonly most: number
  /** While this many attempts run, no processor is free to start interpreters. */
  readonly slots: number
  /** The machine has too little free memory for waiting interpreters. */
  readonly isShort: () => boolean
  /** The prefix of the names of its rooms. No other room of this machine has it. */
  readonly namePrefix: string
  readonly clock: Clock
  readonly log: Pick<Log, 'debug'>
}

export interface WarmRooms extends Required<RoomPool> {
  /** Starts interpreters for tasks that are likely, before a client has sent one. */
  expect(tasks: readonly CommandTask[]): void
  /** The number of interpreters that wait. */
  readonly waiting: number
  /** Resolves when no interpreter is being started. */
  settled(): Promise<void>
  close(): Promise<void>
}

/** Interpreters that were started ahead, each in its own room and for one run. */
export const warmRooms = (options: WarmRoomsOptions): WarmRooms => new InterpreterPool(options)

class InterpreterPool implements WarmRooms {
  readonly #options: WarmRoomsOptions
  readonly #demand = new WarmDemand<WarmShape>()
  readonly #pipes: ReturnType<typeof namedPipes>
  readonly #closing = new AbortController()
  /** Sorted by age, oldest first. */
  #ready: WaitingInterpreter[] = []
  /** Shapes whose interpreter could not be started, and the number of requests to ignore before the next try. */
  readonly #unfit = new Map<string, number>()
  readonly #removals = new Set<Promise<void>>()
  #made = 0
  #running = 0
  /** Demand or waiting interpreters have changed since the pool was last filled. */
  #isDue = false
  #filling: Promise<void> | undefined

  constructor(options: WarmRoomsOptions) {
    this.#options = options
    this.#pipes = namedPipes(options)
  }

  get waiting(): number {
    return this.#ready.length
  }

  take(task: CommandTask): PreparedRoom | undefined {
    if (task.inputs.files.length === 0) return undefined // without code
    const shape = this.#shapeOf(task)
    if (shape === undefined || this.#isUnfit(shape)) return undefined
    this.#demand.asked(shape)
    this.#isDue = true
    const found = this.#ready.find((each) => each.shape.key === shape.key && each.isReady)
    if (found === undefined) return undefined
    this.#ready = this.#ready.filter((each) => each !== found)
    return {
      ...found.room,
      placeInputs: (inputs) => found.placeInputs(inputs),
      run: (run, signal) => this.#run(found, run, signal),
      [Symbol.asyncDispose]: () => this.#leave(found),
    }
  }

  attemptBegan(): () => void {
    this.#running++
    // During a long attempt the pool is filled too: the next attempt must not wait for its interpreter.
    const forget = this.#isDue ? this.#options.clock.after(LONG_RUN_MS, () => this.#fill()) : undefined
    return () => {
      forget?.()
      this.#running--
      if (this.#isDue) this.#fill(AFTER_RUN_MS)
    }
  }

  expect(tasks: readonly CommandTask[]): void {
    for (const task of tasks) {
      const shape = this.#shapeOf(task)
      if (shape !== undefined) this.#demand.seed(shape)
    }
    this.#isDue = true
    this.#fill()
  }

  #shapeOf(task: CommandTask): WarmShape | undefined {
    const language = this.#options.languages.get(languageIn(task) ?? '')
    return language && warmShape(task, language, this.#options.limits)
  }

  async settled(): Promise<void> {
    await this.#filling
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#filling
    await Promise.all([...this.#removals, ...this.#ready.splice(0).map((each) => this.#remove(each))])
    await this.#pipes.close()
  }

  async #run(waiting: WaitingInterpreter, ...[run, signal]: Parameters<Runtime['run']>): ReturnType<Runtime['run']> {
    if (waiting.isReady && waiting.shape.key === shapeKeyOf(run) && isPlain(run.room)) return waiting.run(run, signal)
    await waiting.close()
    return await this.#options.runtime.run(run, signal)
  }

  /** Deletes the files of a finished room later, after the end is reported. */
  async #leave(waiting: WaitingInterpreter): Promise<void> {
    if (!waiting.hasEnded) return await this.#remove(waiting)
    const removal: Promise<void> = this.#pause(AFTER_RUN_MS)
      .then(() => this.#remove(waiting))
      .catch(() => {}) // removed at the next start
      .finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#options.clock.after(ms, resolve))
  }

  async #remove(waiting: WaitingInterpreter): Promise<void> {
    await waiting.close()
    await waiting.room[Symbol.asyncDispose]()
  }

  #fill(afterMs = 0): void {
    this.#filling ??= this.#fillUp(afterMs).finally(() => (this.#filling = undefined))
  }

  /** Starts one interpreter at a time, so that the report of an ended run is not delayed. */
  async #fillUp(afterMs: number): Promise<void> {
    await this.#pause(afterMs)
    const { slots, isShort } = this.#options
    while (!this.#closing.signal.aborted && this.#running < slots && !isShort()) {
      const next = this.#next()
      this.#isDue = next !== undefined
      if (next === undefined) return
      await this.#start(next)
    }
  }

  /** The shape with the highest demand that does not wait yet. It may replace a shape that is no longer in demand. */
  #next(): WarmShape | undefined {
    const { most } = this.#options
    this.#drop((each) => !each.isReady)
    const wanted = this.#demand.wanted(most)
    const count = (key: string): number => this.#ready.filter(({ shape }) => shape.key === key).length
    const next = [...wanted.values()].find(({ kind, count: share }) => count(kind.key) < share)?.kind
    if (next !== undefined && this.#ready.length >= most) {
      const surplus = this.#ready.find(({ shape }) => count(shape.key) > (wanted.get(shape.key)?.count ?? 0))
      this.#drop((each) => each === surplus)
    }
    return next
  }

  #drop(isDropped: (each: WaitingInterpreter) => boolean): void {
    const dropped = this.#ready.filter(isDropped)
    this.#ready = this.#ready.filter((each) => !dropped.includes(each))
    for (const each of dropped) void this.#remove(each).catch(() => {}) // removed at the next start
  }

  async #start(shape: WarmShape): Promise<void> {
    const { rooms, runtime, namePrefix, clock, log } = this.#options
    try {
      const room = rooms.open(`${namePrefix}-${++this.#made}`)
      await using opening = new AsyncDisposableStack()
      opening.use(room)
      await this.#pipes.placeAt(`${room.path}/${shape.file}`, this.#closing.signal)
      runtime.expect()
      const waiting = new WaitingInterpreter(shape, room, { runtime, clock })
      opening.defer(() => waiting.close())
      if (!(await waiting.ready())) return this.#giveUp(shape, 'its interpreter does not wait for its code')
      opening.move()
      this.#ready.push(waiting)
      log.debug({ waiting: this.#ready.length }, 'interpreters are waiting')
    } catch (error) {
      this.#giveUp(shape, error instanceof Error ? error.message : String(error))
    }
  }

  #isUnfit({ key }: WarmShape): boolean {
    const left = this.#unfit.get(key) ?? 0
    if (left > 1) this.#unfit.set(key, left - 1)
    else this.#unfit.delete(key)
    return left > 0
  }

  #giveUp(shape: WarmShape, what: string): void {
    if (this.#closing.signal.aborted) return
    this.#demand.forget(shape.key)
    const [oldest] = this.#unfit.keys()
    if (oldest !== undefined && this.#unfit.size >= MOST_UNFIT) this.#unfit.delete(oldest)
    this.#unfit.set(shape.key, IGNORED_REQUESTS)
    this.#options.log.debug({ file: shape.file, what }, 'no interpreter can be kept waiting')
  }
}

/**
 * The delay after a run. The report of the run is sent first, and the start of an interpreter slows down only long
 * runs.
 */
const AFTER_RUN_MS = 15
const LONG_RUN_MS = 200

/** The maximum number of remembered shapes, because clients choose limits and so the shapes. */
const MOST_UNFIT = 1000
const IGNORED_REQUESTS = 50

const isPlain = ({ readOnly = [], rootfs }: Room): boolean => readOnly.length === 0 && rootfs === undefined
