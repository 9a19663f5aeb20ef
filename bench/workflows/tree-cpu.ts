import { readdirSync, readFileSync } from 'node:fs'

/** These files count in clock ticks of 10 ms (USER_HZ is 100). */
const TICK_MS = 10

interface Process {
  readonly parent: number
  readonly cpuMs: number
  readonly isOurs: boolean
}

/**
 * CPU time of the processes below one so far: of living processes of ours, and of the children that they have waited
 * for. When the first process of a sandbox was killed, its child has another parent, and its CPU time is not counted.
 */
export function treeCpuMs(root: number): number {
  const all = new Map(readdirSync('/proc').flatMap(processOf))
  const isBelow = (pid: number): boolean => {
    for (let at = all.get(pid); at !== undefined; at = all.get(at.parent)) if (at.parent === root) return true
    return false
  }
  let sum = 0
  for (const [pid, { cpuMs, isOurs }] of all) if (isOurs && isBelow(pid)) sum += cpuMs
  return sum
}

/** Commands come and go: only long-running processes are counted directly, so that the sum never falls. */
const OURS = /^(node|MainThread|node-MainThread)$/

function processOf(name: string): [number, Process][] {
  const pid = Number(name)
  if (!Number.isInteger(pid)) return []
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const comm = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((all, one) => all + Number(one), 0) // its own and those of its children
    return [[pid, { parent: Number(fields[1]), cpuMs: ticks * TICK_MS, isOurs: OURS.test(comm) }]]
  } catch {
    return [] // it has exited
  }
}
