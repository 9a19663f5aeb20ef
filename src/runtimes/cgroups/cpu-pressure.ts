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
 * Returns the counters of the group that contains this worker's rooms. Without such a group, returns those of the
 * worker's own group, which usually contains no other program (a container, a service). Returns undefined where neither
 * exists, because the root group counts the whole machine. Only cgroup version 2 has PSI per group:
 * Documentation/accounting/psi.rst.
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

/** A load of 1 means that other programs use three quarters of the machine while the worker's processes wait. */
const FULL_AT = 0.75

/**
 * Returns from 0 to 1 the share of the machine that the worker's processes waited for and other programs used. Waiting
 * that the worker's own usage explains does not count: a worker whose tasks use all processors has a load of 0. A
 * worker whose tasks do not wait has a load of 0 too, however busy its neighbours are.
 */
export function foreignLoad({ before, after, elapsedMs, cpus }: CpuSpan): number {
  if (elapsedMs <= 0 || cpus <= 0) return 0
  const share = (ms: number): number => Math.min(1, Math.max(0, ms / elapsedMs))
  const stalled = share(after.stalledMs - before.stalledMs)
  const used = share((after.usedMs - before.usedMs) / cpus)
  return Math.min(1, (stalled * (1 - used)) / FULL_AT)
}
