import type { Task } from '../queue/records.ts'
import type { AttemptLease } from './lease.ts'
import { type LeaseState, taskHeld } from './lease-state.ts'

/**
 * Reads one field of every object that the end of the task will need. With a million tasks, none of them is in the
 * processor's cache, and a decision that loads one after the other waits for each. These reads do not depend on each
 * other, so the processor overlaps them. The sum keeps them from being optimised away.
 */
export function preloadTask(grid: LeaseState, task: Task, lease: AttemptLease): void {
  const { group, invocation, instance, demand, id } = task
  const { worker, workerId } = lease
  let sum = grid.tasks.preload(task) + group.active + invocation.queued + instance.active + id.length + workerId.length
  sum += (demand.cpu > 0 ? 1 : 0) + task.attempt + lease.charged
  if (worker !== undefined) {
    const { firstStaged, free, turn } = worker
    sum += (free.cpu > 0 ? 1 : 0) + turn
    // This task most likely gets the slot next.
    if (firstStaged !== undefined) {
      const next = taskHeld(grid, firstStaged)
      if (next !== undefined) sum += next.demand.cpu > 0 ? 1 : 0
    }
  }
  grid.preloaded = sum
}
