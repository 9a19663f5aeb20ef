import { childrenOf } from './command-processes.ts'
import { statOf } from './marked-processes.ts'
import type { SendSignal } from './send-signal.ts'
import { tryRead } from './small-files.ts'

/**
 * The first process of a room's pid namespace. When it dies the kernel kills every process of the namespace, whatever their
 * names, parents, sessions and environments are, and it becomes a zombie only after the last of them is dead
 * (pid_namespaces(7)). So to end a room for certain is to kill this process and to wait until it is dead.
 *
 * Node cannot open a pidfd without native code. The pid together with the start time names a process as surely: the kernel
 * gives the same pid to another process, but not within the same hundredth of a second.
 */
export interface RoomInit {
  readonly pid: number
  /** In ticks since the machine started. */
  readonly startedAt: number
}

/** What the maker of a room writes to its status before the command runs. */
const NAMED = /"child-pid":\s*(\d+)/

/** Checked, for the number came through a pipe: only the first process of a namespace below ours has the pid 1 in there. */
function initWith(pid: number): RoomInit | undefined {
  const startedAt = statOf(pid)?.startedAt
  const inside = /^NSpid:\s+\d+.*\s1$/m.test(tryRead(`/proc/${pid}/status`))
  return startedAt !== undefined && inside ? { pid, startedAt } : undefined
}

/** Dead, and with it all processes of its namespace. */
export function isDead({ pid, startedAt }: RoomInit): boolean {
  const stat = statOf(pid)
  return stat === undefined || stat.isDead || stat.startedAt !== startedAt
}

/** The first one below a process, for makers of rooms that do not name it. */
export function initBelow(leader: number): RoomInit | undefined {
  for (let level = [leader]; level.length > 0; level = level.flatMap(childrenOf))
    for (const pid of level) {
      const init = initWith(pid)
      if (init !== undefined) return init
    }
  return undefined
}

/** Knows the init of one room from the moment that its maker names it, has it put on record, and ends it. */
export class RoomInitWatch {
  readonly #keep: (init: RoomInit) => void
  readonly #send: SendSignal
  #isWanted = true
  #words = ''
  init: RoomInit | undefined

  constructor(keep: (init: RoomInit) => void, send: SendSignal) {
    this.#keep = keep
    this.#send = send
  }

  /** A piece of what the maker wrote. Once the init is known the rest is of no interest. */
  heard(words: string): void {
    if (this.init !== undefined || !this.#isWanted) return
    this.#words += words
    const pid = NAMED.exec(this.#words)?.[1]
    if (pid === undefined) return
    this.#isWanted = false // what comes later may be somebody else's words
    this.found(initWith(Number(pid)))
  }

  found(init: RoomInit | undefined): void {
    if (init === undefined) return
    this.init = init
    this.#keep(init)
  }

  kill(): void {
    if (this.init !== undefined && !isDead(this.init)) this.#send(this.init.pid, 'SIGKILL')
  }
}
