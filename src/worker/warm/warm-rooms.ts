import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Limits } from '../../model/command.ts'
import type { CommandTask } from '../../model/command-task.ts'
import type { Room, Runtime } from '../../runtimes/run/runtime.ts'
import type { InputStage } from '../inputs/stage-inputs.ts'
import type { OpenRoom, Rooms } from '../rooms/rooms.ts'
import { layingCode } from './laying-code.ts'
import { namedPipes } from './named-pipes.ts'
import { WaitingRoom } from './waiting-room.ts'
import { WarmDemand } from './warm-demand.ts'
import { type LanguageByName, shapeKeyOf, type WarmShape, warmShape } from './warm-shape.ts'

export interface WarmRoomsOptions {
  readonly rooms: Rooms
  /** Makes rooms with namespaces; finds the systems of languages. */
  readonly runtime: Runtime
  readonly languageOf: LanguageByName
  /** The worker's own, for everything that it runs. */
  readonly limits: Limits
  /** Waiting at a time. */
  readonly most: number
  /** As many runs at a time leave no processor for making others ready. */
  readonly slots: number
  /** The machine has no memory to spare. */
  readonly isShort: () => boolean
  /** Unlike that of any other room of this worker. */
  readonly roomName: () => string
  readonly clock: Clock
  readonly log: Pick<Log, 'debug'>
}

export interface WarmRooms {
  /** The same, but a run in a room that was taken from here may find its interpreter waiting. */
  readonly runtime: Runtime
  /** The same, but in a room that was taken from here the code may have its place already. */
  inputs(inner: InputStage): InputStage
  /** An empty room for this task with an interpreter that waits for its code; undefined when there is none that would do. */
  take(task: CommandTask): OpenRoom | undefined
  /** What such tasks will need is made ready, though nobody has asked yet. */
  expect(tasks: readonly CommandTask[]): void
  /** How many wait. */
  readonly waiting: number
  /** Resolves when all that is wanted is ready, or cannot be. */
  settled(): Promise<void>
  close(): Promise<void>
}

/** Interpreters that were started ahead, each in a room of its own, for one run each. */
export function warmRooms(options: WarmRoomsOptions): WarmRooms {
  const pool = new Pool(options)
  const { runtime } = options
  return {
    runtime: { ...runtime, run: (run, signal) => pool.run(run, signal) },
    inputs: (inner) => layingCode(inner, (root) => pool.takenAt(root)),
    take: (task) => pool.take(task),
    expect: (tasks) => pool.expect(tasks),
    get waiting() {
      return pool.waiting
    },
    settled: () => pool.settled(),
    close: () => pool.close(),
  }
}

interface Ready {
  readonly waiting: WaitingRoom
  readonly room: OpenRoom
}

class Pool {
  readonly #options: WarmRoomsOptions
  readonly #demand = new WarmDemand<WarmShape>()
  readonly #pipes: ReturnType<typeof namedPipes>
  readonly #closing = new AbortController()
  /** The oldest first. */
  #ready: Ready[] = []
  readonly #taken = new Map<string, WaitingRoom>()
  /** Shapes of which none could be made ready, and how often they may be asked for until it is tried again. */
  readonly #unfit = new Map<string, number>()
  /** Rooms that are about to be removed. */
  readonly #leaving = new Set<Promise<void>>()
  #running = 0
  #filling: Promise<void> | undefined

  constructor(options: WarmRoomsOptions) {
    this.#options = options
    this.#pipes = namedPipes(options)
  }

  get waiting(): number {
    return this.#ready.length
  }

  take(task: CommandTask): OpenRoom | undefined {
    const { languageOf, limits } = this.#options
    const shape = warmShape(task, languageOf, limits)
    if (shape === undefined || this.#isUnfit(shape)) return undefined
    this.#demand.asked(shape)
    const found = this.#ready.find(({ waiting }) => waiting.shape.key === shape.key && waiting.isReady)
    if (found === undefined) return undefined
    this.#ready = this.#ready.filter((each) => each !== found)
    const { waiting, room } = found
    this.#taken.set(room.name, waiting)
    return { ...room, [Symbol.asyncDispose]: () => this.#leaveSoon(found) }
  }

  takenAt(root: string): WaitingRoom | undefined {
    return [...this.#taken.values()].find(({ room }) => room.path === root)
  }

  expect(tasks: readonly CommandTask[]): void {
    for (const task of tasks) {
      const shape = warmShape(task, this.#options.languageOf, this.#options.limits)
      if (shape !== undefined) this.#demand.seed(shape)
    }
    this.#fill()
  }

  run: Runtime['run'] = async (run, signal) => {
    const waiting = this.#taken.get(run.room.name)
    this.#taken.delete(run.room.name)
    this.#running++
    const forget = this.#options.clock.after(LONG_RUN_MS, () => this.#fill())
    try {
      if (waiting?.isReady && waiting.shape.key === shapeKeyOf(run) && isPlain(run.room))
        return await waiting.go(run, signal)
      await waiting?.end()
      return await this.#options.runtime.run(run, signal)
    } finally {
      forget()
      this.#running--
      this.#fill(AFTER_RUN_MS)
    }
  }

  async settled(): Promise<void> {
    await this.#filling
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#filling
    await Promise.all([...this.#leaving, ...this.#ready.splice(0).map((each) => this.#leave(each))])
    await this.#pipes.close()
  }

  /** Deletes the files of a finished room later, after the end is reported. */
  async #leaveSoon(ready: Ready): Promise<void> {
    if (!ready.waiting.isOver) return await this.#leave(ready)
    const leaving: Promise<void> = this.#pause(AFTER_RUN_MS)
      .then(() => this.#leave(ready))
      .catch(() => {}) // it is swept at the next start
      .finally(() => this.#leaving.delete(leaving))
    this.#leaving.add(leaving)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#options.clock.after(ms, resolve))
  }

  async #leave({ waiting, room }: Ready): Promise<void> {
    this.#taken.delete(room.name)
    await waiting.end()
    await room[Symbol.asyncDispose]()
  }

  #fill(afterMs = 0): void {
    this.#filling ??= this.#fillUp(afterMs).finally(() => (this.#filling = undefined))
  }

  /** Starts one room at a time, so that the report of an ended run is not delayed. */
  async #fillUp(afterMs: number): Promise<void> {
    await this.#pause(afterMs)
    for (let next = this.#next(); next !== undefined; next = this.#next()) await this.#make(next)
  }

  /** What to make ready now; nothing while the machine has better things to do. */
  #next(): WarmShape | undefined {
    const { most, slots, isShort } = this.#options
    if (this.#closing.signal.aborted || this.#running >= slots || isShort()) return undefined
    this.#drop(({ waiting }) => !waiting.isReady)
    const wanted = this.#demand.wanted(most)
    const count = (key: string): number => this.#ready.filter(({ waiting }) => waiting.shape.key === key).length
    const next = [...wanted.values()].find(({ kind, count: share }) => count(kind.key) < share)?.kind
    // The place of one that nobody asks for any more.
    if (next !== undefined && this.#ready.length >= most) {
      const surplus = this.#ready.find(
        ({ waiting: { shape } }) => count(shape.key) > (wanted.get(shape.key)?.count ?? 0),
      )
      this.#drop((each) => each === surplus)
    }
    return next
  }

  #drop(isToGo: (each: Ready) => boolean): void {
    const going = this.#ready.filter(isToGo)
    this.#ready = this.#ready.filter((each) => !going.includes(each))
    for (const each of going) void this.#leave(each).catch(() => {}) // a room that stays is swept at the next start
  }

  async #make(shape: WarmShape): Promise<void> {
    const { rooms, runtime, roomName, clock, log } = this.#options
    const room = await rooms.open(roomName()).catch(() => undefined) // a disk that is full, say
    if (room === undefined) return this.#givesUp(shape, 'there is no room for it')
    try {
      await this.#pipes.placeAt(`${room.path}/${shape.file}`, this.#closing.signal)
      runtime.expect()
      const waiting = new WaitingRoom(shape, room, { runtime, clock })
      if (await waiting.ready()) this.#ready.push({ waiting, room })
      else {
        await this.#leave({ waiting, room })
        this.#givesUp(shape, 'its interpreter does not wait for its code')
      }
    } catch (error) {
      await room[Symbol.asyncDispose]()
      this.#givesUp(shape, error instanceof Error ? error.message : String(error))
    }
    log.debug({ waiting: this.#ready.length }, 'interpreters are waiting')
  }

  #isUnfit({ key }: WarmShape): boolean {
    const left = this.#unfit.get(key) ?? 0
    if (left > 1) this.#unfit.set(key, left - 1)
    else this.#unfit.delete(key)
    return left > 0
  }

  #givesUp(shape: WarmShape, what: string): void {
    if (this.#closing.signal.aborted) return
    this.#demand.forget(shape.key)
    const [oldest] = this.#unfit.keys()
    if (oldest !== undefined && this.#unfit.size >= MOST_UNFIT) this.#unfit.delete(oldest)
    this.#unfit.set(shape.key, ASKED_AGAIN)
    this.#options.log.debug({ file: shape.file, what }, 'no interpreter can be kept waiting')
  }
}

/** What is told of a run that has ended goes first; and no other run is slowed down for what may come, unless it is a long one. */
const AFTER_RUN_MS = 15
const LONG_RUN_MS = 200

/** Callers make up limits, too. */
const MOST_UNFIT = 1000
const ASKED_AGAIN = 50

const isPlain = ({ readOnly = [], rootfs }: Room): boolean => readOnly.length === 0 && rootfs === undefined
