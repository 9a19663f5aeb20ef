import type { RoomGroup } from '../cgroups/room-groups.ts'
import type { LaunchUsage, SendSignal } from './launcher.ts'
import { killMarked, type MarkedTree, markedProcesses, usageOf } from './marked-processes.ts'

/** All processes of one order. */
export interface ProcessTree {
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
  remove(): void
}

export interface TreeUsage {
  readonly cpuMs: number
  /** At the moment; 0 where the kernel sees to it. */
  readonly memoryBytes: number
}

export function groupTree(group: RoomGroup): ProcessTree {
  return {
    needsLooks: false,
    isEmpty: () => group.isEmpty(),
    pids: () => group.pids(),
    kill: () => group.kill(),
    look() {
      const { cpuUserMs = 0, cpuSystemMs = 0 } = group.usage()
      return { cpuMs: cpuUserMs + cpuSystemMs, memoryBytes: 0 }
    },
    total: () => ({ ...group.usage(), how: 'counted' }),
    events: () => group.events(),
    remove: () => void group.remove(),
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
    remove() {},
  }
}
