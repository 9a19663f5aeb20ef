import type { GridState } from '../grid.ts'
import type { Instant, Property } from '../model/events.ts'
import type { SchedulerOptions } from '../model/options.ts'
import type { RequirementGroup } from './requirement-group.ts'
import type { Task } from './task.ts'
import type { WorkerPool } from './worker-pool.ts'

/**
 * Tasks that nothing fits wait for a while, since workers may still be on their way, above all after our start. Then
 * they fail, and are told what nobody offers. The oldest of a lane is due first, so one timer a lane is enough.
 */
export function watchGroup(grid: GridState, group: RequirementGroup): void {
  const due = nextHopelessAt(grid, group)
  if (due >= group.lookAt) return
  group.lookAt = due
  grid.timers.push(due, { look: 'group', group })
}

/** A pool whose workers have to be started first may need longer. Of several that match, the longest counts. */
export function graceFor({ noWorkerGraceMs, poolGraceMs }: SchedulerOptions, properties: readonly Property[]): number {
  const own = properties.flatMap(({ name, value }) =>
    [`${name}=${value}`, name].flatMap((key) => (Object.hasOwn(poolGraceMs, key) ? [poolGraceMs[key] as number] : [])),
  )
  return own.length === 0 ? noWorkerGraceMs : Math.max(...own)
}

/** When the task fails if nothing comes; undefined when something that is there fits it. */
export function noWorkerDeadline(grid: GridState, task: Task): Instant | undefined {
  const { live, unservedSince = grid.options.startedAt } = task.group.pool
  if (live > 0 && !task.parked) return undefined
  const since = Math.max(grid.options.startedAt, task.queuedAt, live === 0 ? unservedSince : 0)
  return since + task.group.graceMs
}

function nextHopelessAt(grid: GridState, group: RequirementGroup): Instant {
  if (group.pool.live > 0 && group.parked === 0) return Number.POSITIVE_INFINITY
  for (let task = group.head; task !== undefined; task = task.groupNext) {
    const due = noWorkerDeadline(grid, task)
    if (due !== undefined) return due
  }
  return Number.POSITIVE_INFINITY
}

/** Those whose time is up, oldest first. */
export function tasksPastGrace(grid: GridState, group: RequirementGroup): Task[] {
  const found: Task[] = []
  if (group.pool.live > 0 && group.parked === 0) return found
  for (let task = group.head; task !== undefined; task = task.groupNext) {
    const due = noWorkerDeadline(grid, task)
    if (due !== undefined && due > grid.now) break
    if (due !== undefined) found.push(task)
  }
  return found
}

/** The last worker of a pool has gone, or the first has come. */
export function poolLiveChanged(grid: GridState, pool: WorkerPool): void {
  if (pool.live > 0) {
    pool.unservedSince = undefined
    return
  }
  pool.unservedSince = grid.now
  for (const group of pool.groups) if (group.queued > 0) watchGroup(grid, group)
}
