/** The usage of a process and all its descendants, read from /proc: the same for servers in any language. */
import { readdirSync, readFileSync } from 'node:fs'

export interface Usage {
  /** User and system time of all threads and children, including those that have exited. */
  readonly cpuUs: number
  readonly rssBytes: number
}

const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4096

interface Stat {
  readonly pid: number
  readonly parent: number
  readonly ticks: number
  readonly pages: number
}

export function usageOf(pid: number): Usage {
  const all = everyProcess()
  const family = [pid]
  for (const member of family) for (const { pid: child, parent } of all) if (parent === member) family.push(child)
  let ticks = 0
  let pages = 0
  for (const stat of all) {
    if (!family.includes(stat.pid)) continue
    ticks += stat.ticks
    pages += stat.pages
  }
  return { cpuUs: (ticks * 1e6) / TICKS_PER_SECOND, rssBytes: pages * PAGE_BYTES }
}

const everyProcess = (): Stat[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)) ?? [])

/** See proc(5). The name in parentheses may contain any character, so the fields are counted after it. */
function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const at = (field: number): number => fields[field - 3] ?? 0
    return { pid, parent: at(4), ticks: at(14) + at(15) + at(16) + at(17), pages: at(24) }
  } catch {
    return undefined // it has exited meanwhile
  }
}
