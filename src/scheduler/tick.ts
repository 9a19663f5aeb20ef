import type { Due, Grid } from './grid.ts'
import { finishTask } from './leases/finish-task.ts'
import { requeue } from './leases/retry.ts'
import { giveUpUnconfirmed } from './leases/unconfirmed-ends.ts'
import { lookAfterPool } from './queue/kept-workers.ts'
import { hopelessTasks, watchLane } from './queue/no-worker-grace.ts'
import type { Lane } from './queue/requirement-group.ts'
import { giveUpAwaited } from './restore-task.ts'
import { endLeases, review, watchAgain } from './review-worker.ts'
import { unmatched } from './unmatched.ts'
import { loseWorker } from './worker-events.ts'
import { isThere, type Worker } from './workers/worker.ts'
import { lostAt } from './workers/worker-watch.ts'

/** The only event in which time runs out. Whatever is due is looked at once, and what that sets comes at the next. */
export function tick(grid: Grid): void {
  const due: Due[] = []
  while (grid.timers.size > 0 && grid.timers.firstKey <= grid.now) due.push(grid.timers.pop() as Due)
  for (const one of due) lookAt(grid, one)
}

function lookAt(grid: Grid, due: Due): void {
  if (due.look === 'lane') lookAtLane(grid, due.lane)
  else if (due.look === 'worker') lookAtWorker(grid, due.worker)
  else if (due.look === 'pool') lookAfterPool(grid, due.pool)
  else if (due.look === 'awaited') giveUpAwaited(grid, due.workerId)
  else if (due.task.state === 'retrying' && due.task.queuedAt <= grid.now) requeue(grid, due.task)
}

function lookAtLane(grid: Grid, lane: Lane): void {
  if (lane.lookAt > grid.now) return
  lane.lookAt = Number.POSITIVE_INFINITY
  for (const task of hopelessTasks(grid, lane))
    finishTask(grid, task, { move: 'giveUp', why: 'no-worker', what: unmatched(grid, task) })
  watchLane(grid, lane)
}

function lookAtWorker(grid: Grid, worker: Worker): void {
  if (worker.lookAt > grid.now || !isThere(worker)) return
  worker.lookAt = Number.POSITIVE_INFINITY
  if (lostAt(grid, worker) <= grid.now) {
    const silent = Math.round((grid.now - worker.lastHeard) / 1000)
    const what = worker.disconnectedAt === undefined ? `silent for ${silent} s` : 'its connection did not come back'
    loseWorker(grid, worker, what)
    return
  }
  giveUpUnconfirmed(grid, worker)
  endLeases(grid, worker)
  review(grid, worker)
  watchAgain(grid, worker)
}
