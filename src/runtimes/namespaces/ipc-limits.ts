import type { LauncherFacts } from '../launcher/launcher.ts'
import { tryRead } from '../processes/small-files.ts'
import type { Run } from '../run/runtime.ts'

/**
 * System V segments, messages and semaphores are kernel memory that belongs to no process, so summing the memory of a
 * room's processes misses them. A memory control group counts them. Without one, the kernel limits them per IPC
 * namespace, and each room has its own; the program that makes the room writes these files before the command starts
 * (proc(5), sysctl/kernel.rst). Since Linux 6.9 the root user of the owning user namespace may.
 */
export interface IpcSetting {
  /** The name of its file in /proc/sys/kernel. */
  readonly name: 'shmall' | 'shmmax' | 'msgmnb' | 'msgmni' | 'sem'
  readonly value: string
}

/**
 * How System V memory is limited: `counted` with the other memory, `limited` by such settings, or `refused` where
 * neither is possible.
 */
export type IpcWay = 'counted' | 'limited' | 'refused'

/** The kernel's defaults; a room never gets more. */
const MOST = { messageBytes: 16_384, queues: 32_000, perSet: 32_000, sets: 32_000, operations: 500 }
/** The size of an empty message; a queue may hold as many messages as bytes. */
const MESSAGE_BYTES = 64
/** The maximum size of one semaphore, and the size of a set without its semaphores. */
const SEMAPHORE_BYTES = 128
const SET_BYTES = 1024
/** The share of a room's memory for messages, and the same share for semaphores: programs need few of them. */
const SHARE = 1 / 8

const PAGE_BYTES = Number(/^KernelPageSize:\s+(\d+) kB$/m.exec(tryRead('/proc/self/smaps'))?.[1] ?? 4) * 1024

/** Limits all segments together to the room's memory, and messages and semaphores to an eighth of it each. */
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

/** The settings of one run: none where its memory is counted or unlimited. */
export const ipcSettingsOf = ({ limits }: Run, facts: LauncherFacts): readonly IpcSetting[] =>
  limits.memoryBytes === undefined || facts.memory === 'all' ? [] : ipcSettings(limits.memoryBytes)
