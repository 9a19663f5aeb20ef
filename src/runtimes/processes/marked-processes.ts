import { readdirSync } from 'node:fs'
import { memoryBytesOf } from './process-memory.ts'
import type { SendSignal } from './send-signal.ts'
import { tryRead } from './small-files.ts'

/** In the environment of every process of an order, where there are no control groups. */
export const MARKER = 'WINDLASS_ROOM'

/** The kernel's clock ticks 100 times a second for everyone who asks by these files. */
const TICK_MS = 10

export interface MarkedProcess {
  readonly pid: number
  readonly isStopped: boolean
  readonly cpuUserMs: number
  readonly cpuSystemMs: number
}

export interface MarkedTree {
  /** The value of the marker; undefined where only the session is known. */
  readonly mark: string | undefined
  /** The first process: its session is the tree's. */
  readonly leader: number
  /** When it started: nobody in the tree is older, and most processes of a machine are. */
  readonly since: number
}

/** Asked at once, while it cannot have been forgotten yet. */
export const startOf = (pid: number): number => statOf(pid)?.startedAt ?? 0

/**
 * Finds the processes of a tree by looking through all: those in the session of its first process, those below it, and
 * those that carry the marker. A grandchild that called setsid is found by the marker, one that cleared its environment
 * by the session. Who did both, and lost its parent, is missed: that takes intent, and only control groups hold against
 * it, or a pid namespace, in which nobody ever loses the last of its parents.
 */
export function markedProcesses({ mark, leader, since }: MarkedTree): MarkedProcess[] {
  const young = new Map<number, ProcessStat>()
  for (const pid of allPids()) {
    const stat = statOf(pid)
    if (stat !== undefined && stat.startedAt >= since) young.set(pid, stat)
  }
  const below = new Set([leader])
  const isBelow = (pid: number, stat: ProcessStat): boolean => {
    for (let [at, up]: [number, ProcessStat | undefined] = [pid, stat]; up !== undefined; ) {
      if (below.has(at) || below.has(up.parent)) return below.add(pid) !== undefined
      at = up.parent
      up = young.get(at)
    }
    return false
  }
  return [...young].flatMap(([pid, stat]): MarkedProcess[] => {
    if (stat.isDead) return []
    const isMarked = (): boolean => mark !== undefined && carries(pid, `${MARKER}=${mark}`)
    const isOurs = stat.session === leader || isBelow(pid, stat) || isMarked()
    return isOurs ? [{ pid, ...stat }] : []
  })
}

/** Those whose marker begins so: what an earlier life of a worker left. */
export function markedSince(prefix: string): number[] {
  return allPids().filter((pid) =>
    tryRead(`/proc/${pid}/environ`)
      .split('\0')
      .some((entry) => entry.startsWith(`${MARKER}=${prefix}`)),
  )
}

/** One round: first all are stopped, so that none forks while the others are told; then all are killed. */
export function killMarked(tree: MarkedTree, send: SendSignal): void {
  for (let round = 0; round < 20; round++) {
    const running = markedProcesses(tree).filter(({ isStopped }) => !isStopped)
    if (running.length === 0) break
    for (const { pid } of running) send(pid, 'SIGSTOP')
  }
  for (const { pid } of markedProcesses(tree)) send(pid, 'SIGKILL')
}

export function usageOf(processes: readonly MarkedProcess[]): MarkedUsage {
  const sum = (part: (one: MarkedProcess) => number): number => processes.reduce((all, one) => all + part(one), 0)
  return {
    cpuUserMs: sum(({ cpuUserMs }) => cpuUserMs),
    cpuSystemMs: sum(({ cpuSystemMs }) => cpuSystemMs),
    memoryBytes: memoryBytesOf(processes.map(({ pid }) => pid)),
  }
}

interface MarkedUsage {
  readonly cpuUserMs: number
  readonly cpuSystemMs: number
  readonly memoryBytes: number
}

const allPids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

const carries = (pid: number, entry: string): boolean => tryRead(`/proc/${pid}/environ`).split('\0').includes(entry)

export interface ProcessStat {
  readonly isDead: boolean
  /** The kernel is taking it apart, and it has no other thread: it will never do anything again. */
  readonly isLeaving: boolean
  readonly isStopped: boolean
  readonly parent: number
  readonly group: number
  readonly session: number
  /** The number of its device; 0 for none. */
  readonly terminal: number
  /** The group of processes in front of that terminal. */
  readonly foreground: number
  readonly cpuUserMs: number
  readonly cpuSystemMs: number
  readonly startedAt: number
}

/** PF_EXITING of the kernel's flags. */
const EXITING = 0x4

/** The fields of proc(5) from the third on: the name before them is in brackets, and may have anything in it. */
export function statOf(pid: number): ProcessStat | undefined {
  const text = tryRead(`/proc/${pid}/stat`)
  if (text === '') return undefined
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const number = (field: number): number => Number(fields[field - 3])
  const state = fields[0]
  return {
    isDead: state === 'Z' || state === 'X',
    isLeaving: (number(9) & EXITING) !== 0 && number(20) <= 1,
    isStopped: state === 'T' || state === 't',
    parent: number(4),
    group: number(5),
    session: number(6),
    terminal: number(7),
    foreground: number(8),
    // With those of its children that have ended and were waited for.
    cpuUserMs: (number(14) + number(16)) * TICK_MS,
    cpuSystemMs: (number(15) + number(17)) * TICK_MS,
    startedAt: number(22),
  }
}
