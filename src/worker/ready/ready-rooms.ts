import type { Clock } from '../../base/clock.ts'
import type { Limits } from '../../model/command.ts'
import type { CommandTask } from '../../model/command-task.ts'
import { LANGUAGE_PROPERTY } from '../../model/language.ts'
import { PLAIN_COMMAND, type Room, type Run, type Runtime } from '../../runtimes/run/runtime.ts'
import { HeldRun, type RoomPool } from '../rooms/prepared-room.ts'
import { afterOthers, type OpenRoom, type Rooms } from '../rooms/rooms.ts'
import { SYSTEM_FOLDER, shellScript } from './shell-script.ts'

export interface ReadyRoomsOptions {
  readonly rooms: Rooms
  readonly runtime: Runtime
  /** The upper limits of this worker, for every task. */
  readonly limits: Limits
  /** The number of rooms that wait while tasks arrive; after `IDLE_MS` without a task none waits. */
  readonly most: number
  /** The prefix of the names of its rooms. No other room of this machine has it. */
  readonly namePrefix: string
  readonly clock: Pick<Clock, 'after'>
}

export interface ReadyRooms extends RoomPool {
  /** The number of rooms that wait. */
  readonly waiting: number
  close(): Promise<void>
}

/** After this time without a task the waiting rooms are removed: an idle worker must not use memory for them. */
const IDLE_MS = 10_000

/**
 * Rooms in which a shell waits to become a command. Making a room takes longer than all other steps of a short task,
 * and does not depend on the task. An idle worker makes rooms ahead, so that a chain of short tasks does not wait for
 * them. A busy worker makes each room on demand, which costs less CPU.
 */
export function readyRooms({ rooms, runtime, limits, most, namePrefix, clock }: ReadyRoomsOptions): ReadyRooms {
  const waiting: WaitingShell[] = []
  let running = 0
  let made = 0
  let isClosed = false
  let cancelIdle = (): void => {}

  const newRoom = (): OpenRoom => rooms.open(`${namePrefix}-${++made}`)
  const remove = async ({ held, room }: WaitingShell): Promise<void> => {
    await held.close()
    await room[Symbol.asyncDispose]()
  }
  const removeAll = async (): Promise<void> => {
    await Promise.all(waiting.splice(0).map((shell) => remove(shell).catch(() => {}))) // removed at the next start
  }
  const next = (): WaitingShell | undefined => {
    for (let shell = waiting.shift(); shell !== undefined; shell = waiting.shift()) {
      if (!shell.held.hasEnded) return shell
      void remove(shell)
    }
    return undefined
  }
  /** Replaces the room that was used. If none was left, makes a second one, which the next task finds finished. */
  const fill = (): void => {
    const wanted = Math.min(most, Math.max(2, waiting.length + 1))
    try {
      while (!isClosed && running === 0 && waiting.length < wanted) waiting.push(waitingShell(newRoom(), runtime))
    } catch {
      // for example, the disk is full: the next task reports it
    }
  }
  const leave = async (room: OpenRoom, shell: WaitingShell | undefined): Promise<void> => {
    running--
    await shell?.held.close()
    await room[Symbol.asyncDispose]()
    void afterOthers().then(fill) // the report of this attempt is sent first
  }
  return {
    get waiting() {
      return waiting.length
    },
    take(task) {
      if (isClosed || !isPlain(task, limits)) return undefined
      cancelIdle()
      cancelIdle = clock.after(IDLE_MS, () => void removeAll())
      const shell = next()
      if (shell === undefined) runtime.expect()
      const room = shell?.room ?? newRoom()
      running++
      const run: Runtime['run'] = shell === undefined ? (...run) => runtime.run(...run) : runIn(shell, runtime)
      return { ...room, run, [Symbol.asyncDispose]: () => leave(room, shell) }
    },
    async close() {
      isClosed = true
      cancelIdle()
      await removeAll()
    },
  }
}

interface WaitingShell {
  readonly room: OpenRoom
  readonly held: HeldRun
  readonly script: PromiseWithResolvers<Uint8Array>
}

/** The shell prints the name `sh` before its error messages. */
const SHELL = { ...PLAIN_COMMAND, argv: ['sh'] }

function waitingShell(room: OpenRoom, runtime: Runtime): WaitingShell {
  const script = Promise.withResolvers<Uint8Array>()
  const stdin = (async function* () {
    yield await script.promise
  })()
  return { room, script, held: new HeldRun({ command: SHELL, room, limits: {}, runtime, stdin }) }
}

const runIn =
  ({ held, script }: WaitingShell, runtime: Runtime): Runtime['run'] =>
  async (run, signal) => {
    const text = !held.hasEnded && isPlainRun(run) ? shellScript(run) : undefined
    if (text !== undefined) return await held.release(run, () => script.resolve(Buffer.from(text)), signal)
    await held.close()
    return await runtime.run(run, signal)
  }

/**
 * A waiting sandbox has no network, the machine's root file system, and no limit but the time. Its shell cannot start a
 * program that lies among the inputs.
 */
function isPlain({ stages, platform, image }: CommandTask, most: Limits): boolean {
  const [stage] = stages
  if (stage === undefined || stages.length > 1 || image !== undefined) return false
  const { network, stdin, cache, limits, argv } = stage
  if (network || stdin !== undefined || cache !== undefined || !isUnlimited(limits) || !isUnlimited(most)) return false
  const [program = ''] = argv
  if (program.includes('/') && !SYSTEM_FOLDER.test(program)) return false
  return !platform.some(({ name }) => name === LANGUAGE_PROPERTY)
}

function isUnlimited(limits: Limits): boolean {
  for (const name in limits) if (name !== 'wallMs' && limits[name as keyof Limits] !== undefined) return false
  return true
}

const isPlainRun = ({ command, room, limits, hooks, terminal, held }: Run): boolean =>
  !command.network &&
  [hooks.stdin, terminal, held].every((each) => each === undefined) &&
  isPlainRoom(room) &&
  isUnlimited(limits)

const isPlainRoom = ({ readOnly = [], rootfs, places = [] }: Room): boolean =>
  readOnly.length === 0 && rootfs === undefined && places.length === 0
