import type { LauncherFacts } from '../launcher/launcher.ts'
import { tryRead } from '../processes/small-files.ts'
import type { Run } from '../run/runtime.ts'

/**
 * Segments, messages and semaphores of System V are memory of the kernel's that belongs to no process: who adds up what the
 * processes of a room use does not see them. A control group for memory counts them. Where there is none, the kernel limits
 * them for each IPC namespace, of which each room has its own; whoever makes the room writes these files before the command
 * starts (proc(5), sysctl/kernel.rst). Since Linux 6.9 the root of the namespace's owner may.
 */
export interface IpcSetting {
  /** Of its file in /proc/sys/kernel. */
  readonly name: 'shmall' | 'shmmax' | 'msgmnb' | 'msgmni' | 'sem'
  readonly value: string
}

/** `counted` with the rest of its memory, `limited` by such settings, or `refused` where neither can be done. */
export type IpcWay = 'counted' | 'limited' | 'refused'

/** What the kernel itself begins with, and a room never gets more of. */
const MOST = { messageBytes: 16_384, queues: 32_000, perSet: 32_000, sets: 32_000, operations: 500 }
/** A message without content takes this much, and a queue holds as many messages as it may hold bytes. */
const MESSAGE_BYTES = 64
/** What one semaphore takes at most, and a set of them beside that. */
const SEMAPHORE_BYTES = 128
const SET_BYTES = 1024
/** Of the memory of a room, for messages and for semaphores each: programs need few of them. */
const SHARE = 1 / 8

const PAGE_BYTES = Number(/^KernelPageSize:\s+(\d+) kB$/m.exec(tryRead('/proc/self/smaps'))?.[1] ?? 4) * 1024

/** Segments together are no more than the memory of the room; messages and semaphores take an eighth of it each. */
export function ipcSettings(memoryBytes: number): readonly IpcSetting[] {
  const bytes = Math.max(PAGE_BYTES, Math.trunc(memoryBytes))
  const within = (most: number, each: number): number => Math.max(1, Math.min(most, Math.floor((bytes * SHARE) / each)))
  const semaphores = within(MOST.perSet * MOST.sets, SEMAPHORE_BYTES)
  const perSet = Math.min(MOST.perSet, semaphores)
  return [
    { name: 'shmall', value: `${Math.floor(bytes / PAGE_BYTES)}` },
    { name: 'shmmax', value: `${bytes}` },
    { name: 'msgmnb', value: `${MOST.messageBytes}` },
    { name: 'msgmni', value: `${within(MOST.queues, MOST.messageBytes * MESSAGE_BYTES)}` },
    { name: 'sem', value: `${perSet} ${semaphores} ${MOST.operations} ${within(MOST.sets, SET_BYTES)}` },
  ]
}

/** Those of one run: none where its memory is counted, or has no limit. */
export const ipcSettingsOf = ({ limits }: Run, facts: LauncherFacts): readonly IpcSetting[] =>
  limits.memoryBytes === undefined || facts.memory === 'all' ? [] : ipcSettings(limits.memoryBytes)
