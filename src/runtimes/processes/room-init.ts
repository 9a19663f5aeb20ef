import { childrenOf } from './command-processes.ts'
import { statOf } from './marked-processes.ts'
import type { SendSignal } from './send-signal.ts'
import { tryRead } from './small-files.ts'

/**
 * The first process of a room's pid namespace. When it dies the kernel kills every process of the namespace, whatever
 * their names, parents, sessions and environments are. It becomes a zombie only after the last of them is dead
 * (pid_namespaces(7)). So the runtime ends a room reliably by killing this process and waiting until it is dead.
 *
 * Node cannot open a pidfd without native code. The pid together with the start time identifies a process as reliably:
 * the kernel reuses a pid, but not within the same hundredth of a second.
 */
export interface RoomInit {
  readonly pid: number
  /** In ticks since the machine started. */
  readonly startedAt: number
}

/** The part of the status that the room's maker writes before the command runs. */
const NAMED = /"child-pid":\s*(\d+)/

/**
 * Verified, because the pid came through a pipe that the command can write to: only the first process of a nested
 * namespace has pid 1 there.
 */
function initWith(pid: number): RoomInit | undefined {
  const startedAt = statOf(pid)?.startedAt
  const inside = /^NSpid:\s+\d+.*\s1$/m.test(tryRead(`/proc/${pid}/status`))
  return startedAt !== undefined && inside ? { pid, startedAt } : undefined
}

/** Returns true when the init is dead, and with it all processes of its namespace. */
export function isDead({ pid, startedAt }: RoomInit): boolean {
  const stat = statOf(pid)
  return stat === undefined || stat.isDead || stat.startedAt !== startedAt
}

/** Finds the init among the descendants of the leader, for programs that do not report it. */
export function initBelow(leader: number): RoomInit | undefined {
  for (let level = [leader]; level.length > 0; level = level.flatMap(childrenOf))
    for (const pid of level) {
      const init = initWith(pid)
      if (init !== undefined) return init
    }
  return undefined
}

/** Stores the init of one room when its maker reports it, records it on disk, and kills it on request. */
export class RoomInitWatch {
  readonly #keep: (init: RoomInit) => void
  readonly #send: SendSignal
  #isWanted = true
  #text = ''
  init: RoomInit | undefined

  constructor(keep: (init: RoomInit) => void, send: SendSignal) {
    this.#keep = keep
    this.#send = send
  }

  /** A piece of the status. After the init is known the rest is ignored. */
  readStatus(text: string): void {
    if (this.init !== undefined || !this.#isWanted) return
    this.#text += text
    const pid = NAMED.exec(this.#text)?.[1]
    if (pid === undefined) return
    this.#isWanted = false // later text may come from the command
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
