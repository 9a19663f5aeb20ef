import type { Clock } from '../../base/clock.ts'
import { type Limits, strictest } from '../../model/command.ts'
import type { CommandTask } from '../../model/command-task.ts'
import { LANGUAGE_PROPERTY } from '../../model/language.ts'
import type { Room, Run, Runtime } from '../../runtimes/run/runtime.ts'
import { afterOthers, type OpenRoom, type Rooms } from '../rooms/rooms.ts'
import { isOfSystem, shellScript } from './shell-script.ts'
import { WaitingShell } from './waiting-shell.ts'

export interface ReadyRoomsOptions {
  readonly rooms: Rooms
  readonly runtime: Runtime
  /** The worker's own, for everything that it runs. */
  readonly limits: Limits
  /** Waiting at a time, while there is work; without work none waits for long. */
  readonly most: number
  /** Unlike that of any other room of this worker. */
  readonly roomName: () => string
  readonly clock: Pick<Clock, 'after'>
}

export interface ReadyRooms {
  /** The same, but a run in a room that was taken from here may find its sandbox made, or being made. */
  readonly runtime: Runtime
  /** A room for this task alone; undefined for one that has to say more of its room than others. */
  take(task: CommandTask): Promise<OpenRoom | undefined>
  /** How many wait. */
  readonly waiting: number
  close(): Promise<void>
}

/** After so long without a task those that wait are let go: what nobody needs must not cost anything. */
const IDLE_MS = 10_000

/**
 * Rooms that are made before they are needed, while earlier results are told: so a chain of short tasks does not wait for each
 * of them. A worker that has more to do than that has no moment to spare, and there they are made as they are needed, which
 * takes less in all.
 */
export function readyRooms(options: ReadyRoomsOptions): ReadyRooms {
  const pool = new Pool(options)
  const { runtime } = options
  return {
    runtime: { ...runtime, run: (run, signal) => pool.run(run, signal) },
    take: (task) => pool.take(task),
    get waiting() {
      return pool.waiting
    },
    close: () => pool.close(),
  }
}

class Pool {
  readonly #options: ReadyRoomsOptions
  readonly #taken = new Map<string, WaitingShell>()
  #ready: WaitingShell[] = []
  /** Rooms that were taken, and not left yet. */
  #busy = 0
  #isClosed = false
  #forgetIdle = (): void => {}

  constructor(options: ReadyRoomsOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#ready.length
  }

  async take(task: CommandTask): Promise<OpenRoom | undefined> {
    if (this.#isClosed || !isPlain(task, this.#options.limits)) return undefined
    this.#stayAwhile()
    const shell = this.#next()
    if (shell !== undefined) this.#taken.set(shell.room.name, shell)
    else this.#options.runtime.expect()
    const room = shell?.room ?? (await this.#options.rooms.open(this.#options.roomName()))
    this.#busy++
    return { ...room, [Symbol.asyncDispose]: () => this.#leave(room, shell) }
  }

  async run(run: Run, signal: AbortSignal): ReturnType<Runtime['run']> {
    const shell = this.#taken.get(run.room.name)
    this.#taken.delete(run.room.name)
    if (shell === undefined) return await this.#options.runtime.run(run, signal)
    const script = !shell.isOver && isPlainRun(run) ? shellScript(run) : undefined
    if (script !== undefined) return await shell.go(run, script, signal)
    await shell.end()
    return await this.#options.runtime.run(run, signal)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#forgetIdle()
    await this.#drop()
  }

  #next(): WaitingShell | undefined {
    for (let shell = this.#ready.shift(); shell !== undefined; shell = this.#ready.shift()) {
      if (!shell.isOver) return shell
      void this.#remove(shell)
    }
    return undefined
  }

  async #leave(room: OpenRoom, shell: WaitingShell | undefined): Promise<void> {
    this.#busy--
    this.#taken.delete(room.name)
    await shell?.end()
    await room[Symbol.asyncDispose]()
    // Refill only after other work: starting a room now would delay the report of this end.
    void afterOthers().then(() => this.#fill())
  }

  async #remove(shell: WaitingShell): Promise<void> {
    await shell.end()
    await shell.room[Symbol.asyncDispose]()
  }

  /** One for each that is used; and another when all are, so that the next finds one that has had its time. */
  async #fill(): Promise<void> {
    const wanted = Math.min(this.#options.most, this.#ready.length === 0 ? 2 : this.#ready.length + 1)
    const { rooms, runtime, roomName } = this.#options
    while (!this.#isClosed && this.#busy === 0 && this.#ready.length < wanted) {
      const room = await rooms.open(roomName()).catch(() => undefined) // a disk that is full, say: the next task will tell
      if (room === undefined) return
      this.#ready.push(new WaitingShell(room, runtime))
    }
    if (this.#isClosed) await this.#drop()
  }

  #stayAwhile(): void {
    this.#forgetIdle()
    this.#forgetIdle = this.#options.clock.after(IDLE_MS, () => void this.#drop())
  }

  /** A room that stays is swept at the next start. */
  async #drop(): Promise<void> {
    await Promise.all(this.#ready.splice(0).map((shell) => this.#remove(shell).catch(() => {})))
  }
}

/** A sandbox is made without a network, with the machine's own system, and with nothing limited but the time. */
function isPlain({ stages, platform, image }: CommandTask, most: Limits): boolean {
  const [stage] = stages
  if (stage === undefined || stages.length > 1 || image !== undefined) return false
  const isOrdinary =
    !stage.network && stage.stdin === undefined && stage.cache === undefined && isOfSystem(stage.argv[0] ?? '')
  return (
    isOrdinary && isUnlimited(strictest(stage.limits, most)) && !platform.some(({ name }) => name === LANGUAGE_PROPERTY)
  )
}

const isUnlimited = ({ wallMs: _, ...others }: Limits): boolean =>
  Object.values(others).every((limit) => limit === undefined)

const isPlainRun = ({ command, room, limits, hooks, terminal, held }: Run): boolean =>
  !command.network &&
  [hooks.stdin, terminal, held].every((each) => each === undefined) &&
  isPlainRoom(room) &&
  isUnlimited(limits)

const isPlainRoom = ({ readOnly = [], rootfs, places = [] }: Room): boolean =>
  readOnly.length === 0 && rootfs === undefined && places.length === 0
