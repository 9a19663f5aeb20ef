import { readlinkSync } from 'node:fs'
import { type ProcessStat, statOf } from './marked-processes.ts'
import { tryRead } from './small-files.ts'

/**
 * The command's own process: below the first by as many as make its room. Who was adopted on the way comes after it. Between its
 * birth and its program it is a copy of who bore it, and a signal would end that, and not the command: then it is not there yet.
 */
export function commandProcess(leader: number, depth: number): number | undefined {
  let [pid, parent]: (number | undefined)[] = [leader]
  for (let level = 0; level < depth && pid !== undefined; level++) [pid, parent] = [firstChild(pid), pid]
  if (pid === undefined || parent === undefined) return pid
  const program = programOf(pid)
  return program !== undefined && program === programOf(parent) ? undefined : pid
}

/** Undefined where we may not know. */
function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return undefined
  }
}

const firstChild = (pid: number): number | undefined => childrenOf(pid)[0]

/** Those of its first thread, in the order of their birth. */
export const childrenOf = (pid: number): number[] =>
  tryRead(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)

export interface TerminalOfTree {
  /** Of /dev/pts, as the room sees it. */
  readonly number: number
  /** The processes that keys such as Ctrl-C are for. */
  readonly foreground: number
}

/** What devices of pseudo-terminals are numbered from on, and how many there are under each number. */
const FIRST_MAJOR = 136
const LAST_MAJOR = 143

/** The terminal of the oldest among these processes that has one: programs may make others of their own. */
export function terminalOf(pids: readonly number[]): TerminalOfTree | undefined {
  const found = new Map<number, ProcessStat>()
  for (const pid of pids) {
    const stat = statOf(pid)
    if (stat !== undefined) found.set(pid, stat)
  }
  const [oldest] = [...found.values()].filter(({ terminal }) => isPseudo(terminal)).sort(byAge)
  // A number from outside of the tree would be somebody else's.
  if (oldest === undefined || ![...found.values()].some(({ group }) => group === oldest.foreground)) return undefined
  return { number: numberOf(oldest.terminal), foreground: oldest.foreground }
}

const byAge = (one: ProcessStat, other: ProcessStat): number => one.startedAt - other.startedAt

/** As the kernel packs a device into one number. */
const majorOf = (device: number): number => (device >> 8) & 0xfff
const minorOf = (device: number): number => (device & 0xff) | ((device >> 12) & 0xfff00)
const isPseudo = (device: number): boolean => majorOf(device) >= FIRST_MAJOR && majorOf(device) <= LAST_MAJOR
const numberOf = (device: number): number => (majorOf(device) - FIRST_MAJOR) * 256 + minorOf(device)
