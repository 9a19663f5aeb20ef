import type { Instant, Property } from '../model/events.ts'
import type { SchedulerOptions } from '../model/options.ts'
import type { QueueState } from './queue-state.ts'
import type { RequirementGroup, Task, WorkerPool } from './records.ts'

/**
 * A task that fits no worker waits for a grace time, since workers may still connect, especially after a restart of the
 * server. Then it fails with the missing property or amount. The oldest task of a group is due first, so a group needs
 * one timer.
 */
export function watchGroup(grid: QueueState, group: RequirementGroup): void {
  const due = nextDeadline(grid, group)
  if (due >= group.lookAt) return
  group.lookAt = due
  grid.timers.push(due, { look: 'group', group })
}

/** The grace time of tasks with these properties: the longest matching `poolGraceMs`, or else `noWorkerGraceMs`. */
export function graceFor({ noWorkerGraceMs, poolGraceMs }: SchedulerOptions, properties: readonly Property[]): number {
  const own = properties.flatMap(({ name, value }) =>
    [`${name}=${value}`, name].flatMap((key) => (Object.hasOwn(poolGraceMs, key) ? [poolGraceMs[key] as number] : [])),
  )
  return own.length === 0 ? noWorkerGraceMs : Math.max(...own)
}

/** When the task fails for lack of a worker; undefined when a registered worker fits. */
export function noWorkerDeadline(grid: QueueState, task: Task): Instant | undefined {
  const { live, unservedSince = grid.options.startedAt } = task.group.pool
  if (live > 0 && !task.parked) return undefined
  const since = Math.max(grid.options.startedAt, task.queuedAt, live === 0 ? unservedSince : 0)
  return since + task.group.graceMs
}

function nextDeadline(grid: QueueState, group: RequirementGroup): Instant {
  if (group.pool.live > 0 && group.parked === 0) return Number.POSITIVE_INFINITY
  for (let task = group.head; task !== undefined; task = task.groupNext) {
    const due = noWorkerDeadline(grid, task)
    if (due !== undefined) return due
  }
  return Number.POSITIVE_INFINITY
}

/** The tasks whose grace time is over, oldest first. */
export function tasksPastGrace(grid: QueueState, group: RequirementGroup): Task[] {
  const found: Task[] = []
  if (group.pool.live > 0 && group.parked === 0) return found
  for (let task = group.head; task !== undefined; task = task.groupNext) {
    const due = noWorkerDeadline(grid, task)
    if (due !== undefined && due > grid.now) break
    if (due !== undefined) found.push(task)
  }
  return found
}

/** Called when the first live worker of a pool arrives or the last one leaves. */
export function poolLiveChanged(grid: QueueState, pool: WorkerPool): void {
  if (pool.live > 0) {
    pool.unservedSince = undefined
    return
  }
  pool.unservedSince = grid.now
  for (const group of pool.groups) if (group.queued > 0) watchGroup(grid, group)
}
