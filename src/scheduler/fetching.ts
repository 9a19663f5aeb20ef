import type { Grid } from './grid.ts'
import type { Task } from './task.ts'

/**
 * With a million tasks nothing of a task is in the processor's caches, and a decision that asks for one thing after the
 * other waits for each of them. So one field of everything that ending the task will need is read here, and nothing
 * done with it: the reads do not wait for one another, and what comes next finds them under way. It is the sum that
 * keeps the reads from being optimised away.
 */
export function fetchForEnding(grid: Grid, task: Task): void {
  const { lane, invocation, instance, lease, demand } = task
  let sum = lane.active + invocation.queued + instance.active
  sum += demand.cpu > 0 ? 1 : 0
  const worker = lease?.worker
  if (worker !== undefined) {
    const { tasks, staged, free } = worker
    sum += tasks.length + (free.cpu > 0 ? 1 : 0)
    const next = staged[0]
    // Which will most likely have the slot.
    if (next !== undefined) sum += next.lane.active + (next.lease === undefined ? 0 : next.lease.stagedAt)
  }
  grid.fetched = sum
}
