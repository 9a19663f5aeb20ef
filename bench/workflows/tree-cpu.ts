import { readdirSync, readFileSync } from 'node:fs'

/** The kernel's clock ticks 100 times a second for everyone who asks by these files. */
const TICK_MS = 10

interface Process {
  readonly parent: number
  readonly cpuMs: number
  readonly isOurs: boolean
}

/**
 * What the processes below one have used so far: those of ours that live, and the children that they have waited for. A
 * sandbox whose first process was killed has left its child to another parent, and that one's time is in nobody's sum.
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

/** Commands come and go: only what stays is counted by itself, so that the sum never falls. */
const OURS = /^(node|MainThread|node-MainThread)$/

function processOf(name: string): [number, Process][] {
  const pid = Number(name)
  if (!Number.isInteger(pid)) return []
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const comm = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((all, one) => all + Number(one), 0) // its own and its children's
    return [[pid, { parent: Number(fields[1]), cpuMs: ticks * TICK_MS, isOurs: OURS.test(comm) }]]
  } catch {
    return [] // gone by now
  }
}
