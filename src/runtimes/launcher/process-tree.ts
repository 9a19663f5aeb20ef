import type { RoomGroup } from '../cgroups/room-groups.ts'
import { killMarked, type MarkedTree, markedProcesses, processUsage, statOf } from '../processes/marked-processes.ts'
import { memoryBytesOf } from '../processes/process-memory.ts'
import { isDead, type RoomInitWatch } from '../processes/room-init.ts'
import type { SendSignal } from '../processes/send-signal.ts'
import type { LaunchUsage } from './launcher.ts'

/** All processes of one launch. */
export interface ProcessTree {
  /** No process of the tree will run again. */
  isEmpty(): boolean
  pids(): readonly number[]
  /** Sends one round of signals; processes may take a moment to die. */
  kill(): void
  /** Current and past usage. */
  look(): TreeUsage
  /** The usage after all processes are dead. */
  total(): LaunchUsage
  /** Usage must be sampled, because the kernel does not count it. */
  readonly needsLooks: boolean
  events(): { readonly outOfMemory: boolean; readonly pidsRefused: boolean }
  /** Returns false while the kernel is still removing a process. */
  remove(): boolean
}

export interface TreeUsage {
  readonly cpuMs: number
  /** Current memory; 0 where the kernel enforces the limit. */
  readonly memoryBytes: number
}

/** A group may have no memory controller; memory is sampled then. */
export function groupTree(group: RoomGroup): ProcessTree {
  let seenBytes = 0
  const total = (): LaunchUsage => {
    const usage = group.usage()
    return group.keepsMemory ? { ...usage, how: 'counted' } : { ...usage, peakMemoryBytes: seenBytes, how: 'sampled' }
  }
  return {
    needsLooks: !group.keepsMemory,
    // Removing a sandbox takes the kernel 1 to 2 ms, which the caller need not wait for.
    isEmpty: () => group.isEmpty() || areLeaving(group),
    pids: () => group.pids(),
    kill: () => group.kill(),
    look() {
      const { cpuUserMs = 0, cpuSystemMs = 0 } = group.usage()
      const memoryBytes = group.keepsMemory ? 0 : memoryBytesOf(group.pids())
      seenBytes = Math.max(seenBytes, memoryBytes)
      return { cpuMs: cpuUserMs + cpuSystemMs, memoryBytes }
    },
    total,
    events: () => group.events(),
    remove: () => group.remove(),
  }
}

/** A process that is missing in the first list was started by a process that was still alive when the list was made. */
function areLeaving(group: RoomGroup): boolean {
  const seen = group.pids()
  return seen.every((pid) => statOf(pid)?.isLeaving !== false) && group.pids().every((pid) => seen.includes(pid))
}

/**
 * The tree of a room with a pid namespace, once its init is known. Without a control group the namespace is the most
 * reliable test for remaining processes: a process can remove all other marks.
 */
export function roomTree(inner: ProcessTree, room: RoomInitWatch, isGroup: boolean): ProcessTree {
  return {
    ...inner,
    isEmpty: () => (room.init === undefined || isGroup ? inner.isEmpty() : isDead(room.init)),
    kill() {
      room.kill()
      inner.kill()
    },
  }
}

/** Remembers the highest sample: a dead process cannot be sampled. */
export function markedTree(tree: MarkedTree, send: SendSignal): ProcessTree {
  let seen: LaunchUsage = { cpuUserMs: undefined, cpuSystemMs: undefined, peakMemoryBytes: undefined, how: 'sampled' }
  return {
    needsLooks: true,
    isEmpty: () => markedProcesses(tree).length === 0,
    pids: () => markedProcesses(tree).map(({ pid }) => pid),
    kill: () => killMarked(tree, send),
    look() {
      const now = processUsage(markedProcesses(tree))
      seen = {
        cpuUserMs: Math.max(seen.cpuUserMs ?? 0, now.cpuUserMs),
        cpuSystemMs: Math.max(seen.cpuSystemMs ?? 0, now.cpuSystemMs),
        peakMemoryBytes: Math.max(seen.peakMemoryBytes ?? 0, now.memoryBytes),
        how: 'sampled',
      }
      return { cpuMs: now.cpuUserMs + now.cpuSystemMs, memoryBytes: now.memoryBytes }
    },
    total: () => seen,
    events: () => ({ outOfMemory: false, pidsRefused: false }),
    remove: () => true,
  }
}
