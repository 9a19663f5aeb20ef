import { unmatched } from './explain-task.ts'
import type { Due, GridState } from './grid.ts'
import { finishTask, requeueTask } from './leases/end-attempt.ts'
import { expireUnconfirmed } from './leases/unconfirmed-ends.ts'
import { reviewBlockedPool } from './queue/kept-workers.ts'
import { tasksPastGrace, watchGroup } from './queue/no-worker-grace.ts'
import type { RequirementGroup } from './queue/records.ts'
import { expireAwaited } from './restore-task.ts'
import { expireLeases, reviewWorker, watchAgain } from './review-worker.ts'
import { loseWorker } from './worker-events.ts'
import type { Worker } from './workers/records.ts'
import { isRegistered, lostAt } from './workers/worker.ts'

/**
 * Handles the timers that are due. No other event lets a deadline pass. Timers set meanwhile wait for the next tick.
 */
export function tick(grid: GridState): void {
  const due: Due[] = []
  while (grid.timers.size > 0 && grid.timers.firstKey <= grid.now) due.push(grid.timers.pop() as Due)
  for (const one of due) lookAt(grid, one)
}

function lookAt(grid: GridState, due: Due): void {
  if (due.look === 'group') reviewGroup(grid, due.group)
  else if (due.look === 'worker') reviewDueWorker(grid, due.worker)
  else if (due.look === 'pool') reviewBlockedPool(grid, due.pool)
  else if (due.look === 'awaited') expireAwaited(grid, due.workerId)
  else if (due.task.state === 'retrying' && due.task.queuedAt <= grid.now) requeueTask(grid, due.task)
}

function reviewGroup(grid: GridState, group: RequirementGroup): void {
  if (group.lookAt > grid.now) return
  group.lookAt = Number.POSITIVE_INFINITY
  for (const task of tasksPastGrace(grid, group))
    finishTask(grid, task, { move: 'giveUp', why: 'no-worker', what: unmatched(grid, task) })
  watchGroup(grid, group)
}

function reviewDueWorker(grid: GridState, worker: Worker): void {
  if (worker.lookAt > grid.now || !isRegistered(worker)) return
  worker.lookAt = Number.POSITIVE_INFINITY
  if (lostAt(grid, worker) <= grid.now) {
    const silent = Math.round((grid.now - worker.lastMessageAt) / 1000)
    const what = worker.disconnectedAt === undefined ? `no message for ${silent} s` : 'it did not reconnect'
    loseWorker(grid, worker, what)
    return
  }
  expireUnconfirmed(grid, worker)
  expireLeases(grid, worker)
  reviewWorker(grid, worker)
  watchAgain(grid, worker)
}
