import { readdirSync } from 'node:fs'
import { memoryBytesOf } from './process-memory.ts'
import type { SendSignal } from './send-signal.ts'
import { tryRead } from './small-files.ts'

/** Set in the environment of every process of a launch, where there are no control groups. */
export const MARKER = 'WINDLASS_ROOM'

/** The kernel reports times in 1/100 s in these files (USER_HZ). */
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
  /** The first process, which leads the tree's session. */
  readonly leader: number
  /** Its start time: no process of the tree is older, and most processes of a machine are. */
  readonly since: number
}

/** Call it at once, before the kernel can reuse the pid. */
export const startOf = (pid: number): number => statOf(pid)?.startedAt ?? 0

/**
 * Finds the processes of a tree by scanning all processes: those in the session of its first process, its descendants,
 * and those with the marker. A grandchild that called setsid is found by the marker, one that cleared its environment
 * by the session. A process that did both and lost its parent is missed; only a control group or a pid namespace
 * prevents that.
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

/** Processes whose marker begins with this text: left by an earlier process of the worker. */
export function markedSince(prefix: string): number[] {
  return allPids().filter((pid) =>
    tryRead(`/proc/${pid}/environ`)
      .split('\0')
      .some((entry) => entry.startsWith(`${MARKER}=${prefix}`)),
  )
}

/** One round: stops all first, so that none forks meanwhile; then kills all. */
export function killMarked(tree: MarkedTree, send: SendSignal): void {
  for (let round = 0; round < 20; round++) {
    const running = markedProcesses(tree).filter(({ isStopped }) => !isStopped)
    if (running.length === 0) break
    for (const { pid } of running) send(pid, 'SIGSTOP')
  }
  for (const { pid } of markedProcesses(tree)) send(pid, 'SIGKILL')
}

export function processUsage(processes: readonly MarkedProcess[]): MarkedUsage {
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
  /** The process is exiting and has no other thread: it will not run again. */
  readonly isLeaving: boolean
  readonly isStopped: boolean
  readonly parent: number
  readonly group: number
  readonly session: number
  /** The number of its terminal device; 0 for none. */
  readonly terminal: number
  /** The foreground process group of that terminal. */
  readonly foreground: number
  readonly cpuUserMs: number
  readonly cpuSystemMs: number
  readonly startedAt: number
}

/** The kernel's flag PF_EXITING. */
const EXITING = 0x4

/** The fields of proc(5) from the third on: the name before them is in brackets and may contain any character. */
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
    // Includes children that have ended and were waited for.
    cpuUserMs: (number(14) + number(16)) * TICK_MS,
    cpuSystemMs: (number(15) + number(17)) * TICK_MS,
    startedAt: number(22),
  }
}
