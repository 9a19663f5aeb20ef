import { readlinkSync } from 'node:fs'
import { type ProcessStat, statOf } from './marked-processes.ts'
import { tryRead } from './small-files.ts'

/**
 * Finds the command's own process, this many levels below the first process. Adopted processes come after it in the
 * list of children. Between fork and exec it is a copy of its parent, and a signal would not reach the command: it
 * counts as not started then.
 */
export function commandProcess(leader: number, depth: number): number | undefined {
  let [pid, parent]: (number | undefined)[] = [leader]
  for (let level = 0; level < depth && pid !== undefined; level++) [pid, parent] = [firstChild(pid), pid]
  if (pid === undefined || parent === undefined) return pid
  const program = programOf(pid)
  return program !== undefined && program === programOf(parent) ? undefined : pid
}

/** Undefined where /proc denies access. */
function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return undefined
  }
}

const firstChild = (pid: number): number | undefined => childrenOf(pid)[0]

/** The children of its first thread, in order of their start. */
export const childrenOf = (pid: number): number[] =>
  tryRead(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)

export interface TerminalOfTree {
  /** The terminal's number in /dev/pts, as the room sees it. */
  readonly number: number
  /** The foreground process group, which receives keys such as Ctrl-C. */
  readonly foreground: number
}

/** The first major number of pseudo-terminals, and how many terminals each major number has. */
const FIRST_MAJOR = 136
const LAST_MAJOR = 143

/** The terminal of the oldest of these processes that has one: programs may make more terminals. */
export function terminalOf(pids: readonly number[]): TerminalOfTree | undefined {
  const found = new Map<number, ProcessStat>()
  for (const pid of pids) {
    const stat = statOf(pid)
    if (stat !== undefined) found.set(pid, stat)
  }
  const [oldest] = [...found.values()].filter(({ terminal }) => isPseudo(terminal)).sort(byAge)
  // A foreground group outside the tree belongs to an unrelated process.
  if (oldest === undefined || ![...found.values()].some(({ group }) => group === oldest.foreground)) return undefined
  return { number: numberOf(oldest.terminal), foreground: oldest.foreground }
}

const byAge = (one: ProcessStat, other: ProcessStat): number => one.startedAt - other.startedAt

/** Decodes the kernel's device number. */
const majorOf = (device: number): number => (device >> 8) & 0xfff
const minorOf = (device: number): number => (device & 0xff) | ((device >> 12) & 0xfff00)
const isPseudo = (device: number): boolean => majorOf(device) >= FIRST_MAJOR && majorOf(device) <= LAST_MAJOR
const numberOf = (device: number): number => (majorOf(device) - FIRST_MAJOR) * 256 + minorOf(device)
