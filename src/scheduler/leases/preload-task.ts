import type { GridState } from '../grid.ts'
import type { Task } from '../queue/task.ts'
import type { AttemptLease } from './lease.ts'

/**
 * With a million tasks nothing of a task is in the processor's caches, and a decision that asks for one thing after the
 * other waits for each of them. So one field of everything that ending the task will need is read here, and nothing
 * done with it: the reads do not wait for one another, and what comes next finds them under way. It is the sum that
 * keeps the reads from being optimised away.
 */
export function preloadTask(grid: GridState, task: Task, lease: AttemptLease): void {
  const { group, invocation, instance, demand, id } = task
  const { worker, workerId } = lease
  let sum = grid.tasks.fetch(task) + group.active + invocation.queued + instance.active + id.length + workerId.length
  sum += (demand.cpu > 0 ? 1 : 0) + task.attempt + lease.charged
  if (worker !== undefined) {
    const { firstStaged, free, turn } = worker
    sum += (free.cpu > 0 ? 1 : 0) + turn
    // Which will most likely have the slot.
    if (firstStaged !== undefined) {
      const { task: next, stagedAt } = firstStaged
      sum += stagedAt
      if (next !== undefined) sum += next.demand.cpu > 0 ? 1 : 0
    }
  }
  grid.fetched = sum
}
