import type { GridState } from '../grid.ts'
import { moveTask } from '../grid.ts'
import { grantLease, releaseLease, startStaged } from '../leases/grant-lease.ts'
import { awaitConfirmation } from '../leases/unconfirmed-ends.ts'
import { fitsWithin } from '../model/amounts.ts'
import { releaseKeptWorker } from '../queue/kept-workers.ts'
import type { Task } from '../queue/task.ts'
import type { WorkerPool } from '../queue/worker-pool.ts'
import { hasSlot, mayStage, refreshWorker } from '../workers/availability.ts'
import type { Worker } from '../workers/worker.ts'
import { avoidsWorker, nextFor } from './avoided-workers.ts'
import { headOf, headOwedSlot, pickHead } from './next-task.ts'
import { mayAnyHaveSlot, mayHaveSlot, offerKept } from './reserved-slots.ts'

/** How many tasks that were staged elsewhere are looked at for one that fits. */
const LOOK_AHEAD = 4

/** Offers the worker's free slots to what waits, in the order in which it is owed; then its credits for staging ahead. */
export function fillWorker(grid: GridState, worker: Worker): void {
  while (hasSlot(grid, worker) && takeNext(grid, worker)) {
    // one task a round
  }
  while (mayStage(grid, worker)) {
    const task = nextFor(worker, () => pickHead(grid, worker, worker.total))
    if (task === undefined) break
    grantLease(grid, task, { worker, staged: true })
  }
  refreshWorker(grid, worker)
}

function takeNext(grid: GridState, worker: Worker): boolean {
  if (worker.keptFor !== undefined) return takeKept(grid, worker, worker.keptFor)
  const owed = headOwedSlot(grid, worker)
  if (owed !== undefined) {
    grantLease(grid, owed, { worker, staged: false })
    offerKept(grid, owed.instance)
    return true
  }
  const own = stagedHere(worker)
  if (own !== undefined && mayHaveSlot(grid, own.instance)) {
    startStaged(grid, own, worker)
    return true
  }
  // Of those that lack no slot of theirs one may take this if any may.
  if (!mayAnyHaveSlot(grid)) return false
  const task = recallStaged(grid, worker) ?? nextFor(worker, () => pickHead(grid, worker, worker.free))
  if (task === undefined) return false
  grantLease(grid, task, { worker, staged: false })
  return true
}

/** Kept for a large task: that one or nothing. */
function takeKept(grid: GridState, worker: Worker, pool: WorkerPool): boolean {
  const instanceQueue = pool.order.first()
  const task = instanceQueue === undefined ? undefined : headOf(instanceQueue)
  if (task !== undefined && !fitsWithin(task.demand, worker.free)) return false
  releaseKeptWorker(grid, pool)
  if (task === undefined) return true
  pool.blockedSince = undefined
  grantLease(grid, task, { worker, staged: false })
  return true
}

function stagedHere(worker: Worker): Task | undefined {
  for (let lease = worker.firstStaged; lease !== undefined; lease = lease.nextHeld) {
    const { task } = lease
    if (task?.state === 'assigned' && fitsWithin(task.demand, worker.free)) return task
  }
  return undefined
}

/** What waits staged on a full worker is taken back at once when a slot falls free elsewhere. */
function recallStaged(grid: GridState, worker: Worker): Task | undefined {
  for (const pool of worker.class.pools) {
    if (pool.staged.size === 0 || !fitsWithin(pool.floor, worker.free)) continue
    for (const lease of pool.staged.oldest(LOOK_AHEAD)) {
      const { task, workerId } = lease
      if (task?.state !== 'assigned' || !fitsWithin(task.demand, worker.free) || avoidsWorker(task, worker)) continue
      const { fencing } = lease
      awaitConfirmation(grid, lease)
      releaseLease(grid, task, 0)
      grid.effects.push({ kind: 'stop', task: task.id, worker: workerId, fencing, why: 'recalled' })
      moveTask(grid, task, 'yield')
      task.attempt--
      return task
    }
  }
  return undefined
}
