import type { RoomGroup } from '../cgroups/room-groups.ts'
import { killMarked, type MarkedTree, markedProcesses, statOf, usageOf } from '../processes/marked-processes.ts'
import { memoryBytesOf } from '../processes/process-memory.ts'
import { isDead, type RoomInitWatch } from '../processes/room-init.ts'
import type { SendSignal } from '../processes/send-signal.ts'
import type { LaunchUsage } from './launcher.ts'

/** All processes of one order. */
export interface ProcessTree {
  /** Nobody in it will ever do anything again. */
  isEmpty(): boolean
  pids(): readonly number[]
  /** One round; who is told may take a moment to die. */
  kill(): void
  /** What they use and have used. */
  look(): TreeUsage
  /** The same when all are dead. */
  total(): LaunchUsage
  /** Somebody has to look now and then, for nobody counts. */
  readonly needsLooks: boolean
  events(): { readonly outOfMemory: boolean; readonly pidsRefused: boolean }
  /** False while the kernel is still taking somebody apart. */
  remove(): boolean
}

export interface TreeUsage {
  readonly cpuMs: number
  /** At the moment; 0 where the kernel sees to it. */
  readonly memoryBytes: number
}

/** A group may be without a controller of memory, in which case somebody has to look at that. */
export function groupTree(group: RoomGroup): ProcessTree {
  let seenBytes = 0
  const total = (): LaunchUsage => {
    const usage = group.usage()
    return group.keepsMemory ? { ...usage, how: 'counted' } : { ...usage, peakMemoryBytes: seenBytes, how: 'sampled' }
  }
  return {
    needsLooks: !group.keepsMemory,
    // Taking a sandbox apart takes the kernel a millisecond or two, which nobody need wait for.
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

/** Who was not in the first list was started by one who was still there when it was made. */
function areLeaving(group: RoomGroup): boolean {
  const seen = group.pids()
  return seen.every((pid) => statOf(pid)?.isLeaving !== false) && group.pids().every((pid) => seen.includes(pid))
}

/**
 * A tree that is a room with a pid namespace, once its init is known. Without a control group the namespace tells best whether
 * anybody is left: all others are found by traces that a process can wipe.
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

/** Remembers the most that was seen: who has died is not there to be asked. */
export function markedTree(tree: MarkedTree, send: SendSignal): ProcessTree {
  let seen: LaunchUsage = { cpuUserMs: undefined, cpuSystemMs: undefined, peakMemoryBytes: undefined, how: 'sampled' }
  return {
    needsLooks: true,
    isEmpty: () => markedProcesses(tree).length === 0,
    pids: () => markedProcesses(tree).map(({ pid }) => pid),
    kill: () => killMarked(tree, send),
    look() {
      const now = usageOf(markedProcesses(tree))
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
