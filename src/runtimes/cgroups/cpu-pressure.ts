import { existsSync } from 'node:fs'
import { tryRead } from '../processes/small-files.ts'
import { hierarchiesOf } from './hierarchies.ts'

/** The kernel's counters of one group since its creation. */
export interface CpuFigures {
  /** The time in which at least one process of the group waited for a processor (PSI, "some"). */
  readonly stalledMs: number
  /** Processor time that the group used, all processors together. */
  readonly usedMs: number
}

/**
 * The figures of the group that holds this worker's rooms, or of the group that the worker itself is in, where no other
 * program lives (a container, a service). Undefined where neither exists: the root group counts the whole machine.
 * Only version 2 has PSI for each group: Documentation/accounting/psi.rst.
 */
export function ownCpuFigures(name: string): CpuFigures | undefined {
  const all = hierarchiesOf(tryRead('/proc/self/mountinfo'), tryRead('/proc/self/cgroup'))
  const here = all.find(({ version }) => version === 2)?.path
  if (here === undefined) return undefined
  // A worker that moved itself one level down has its rooms beside it.
  const candidates = [`${here}/windlass-${name}`, `${here}/../windlass-${name}`, here]
  const folder = candidates.find((path) => existsSync(`${path}/cgroup.type`))
  return folder === undefined
    ? undefined
    : cpuFiguresIn(tryRead(`${folder}/cpu.pressure`), tryRead(`${folder}/cpu.stat`))
}

export function cpuFiguresIn(pressure: string, stat: string): CpuFigures | undefined {
  const stalled = /^some .*\btotal=(\d+)/m.exec(pressure)?.[1]
  const used = /^usage_usec (\d+)/m.exec(stat)?.[1]
  if (stalled === undefined || used === undefined) return undefined
  return { stalledMs: Number(stalled) / 1000, usedMs: Number(used) / 1000 }
}

export interface CpuSpan {
  readonly before: CpuFigures
  readonly after: CpuFigures
  readonly elapsedMs: number
  readonly cpus: number
}

/** The worker counts as full when others leave its waiting processes a quarter of the machine. */
const FULL_AT = 0.75

/**
 * From 0 to 1: how much of the machine the worker's processes waited for and did not get. What they used themselves explains
 * their waiting to that extent: a worker whose own tasks take all processors has a load of 0, and so has one whose tasks do
 * not wait, however busy its neighbours are.
 */
export function foreignLoad({ before, after, elapsedMs, cpus }: CpuSpan): number {
  if (elapsedMs <= 0 || cpus <= 0) return 0
  const share = (ms: number): number => Math.min(1, Math.max(0, ms / elapsedMs))
  const stalled = share(after.stalledMs - before.stalledMs)
  const used = share((after.usedMs - before.usedMs) / cpus)
  return Math.min(1, (stalled * (1 - used)) / FULL_AT)
}
