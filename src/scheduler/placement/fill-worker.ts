import type { Grid } from '../grid.ts'
import { moveTask } from '../grid.ts'
import { begin, grant, release } from '../leases/grant-lease.ts'
import { awaitConfirmation } from '../leases/unconfirmed-ends.ts'
import { within } from '../model/amounts.ts'
import { unkeep } from '../queue/kept-workers.ts'
import type { Task } from '../queue/task.ts'
import type { Pool } from '../queue/worker-pool.ts'
import { hasSlot, mayStage, refresh } from '../workers/availability.ts'
import type { Worker } from '../workers/worker.ts'
import { avoids, nextFor } from './avoided-workers.ts'
import { headOf, headOwed, pickHead } from './next-task.ts'
import { mayAnyHaveSlot, mayHaveSlot, offerKept } from './reserved-slots.ts'

/** How many tasks that were staged elsewhere are looked at for one that fits. */
const LOOK_AHEAD = 4

/** Offers the worker's free slots to what waits, in the order in which it is owed; then its credits for staging ahead. */
export function fill(grid: Grid, worker: Worker): void {
  while (hasSlot(grid, worker) && takeNext(grid, worker)) {
    // one task a round
  }
  while (mayStage(grid, worker)) {
    const task = nextFor(worker, () => pickHead(grid, worker, worker.total))
    if (task === undefined) break
    grant(grid, task, { worker, staged: true })
  }
  refresh(grid, worker)
}

function takeNext(grid: Grid, worker: Worker): boolean {
  if (worker.keptFor !== undefined) return takeKept(grid, worker, worker.keptFor)
  const owed = headOwed(grid, worker)
  if (owed !== undefined) {
    grant(grid, owed, { worker, staged: false })
    offerKept(grid, owed.instance)
    return true
  }
  const own = stagedHere(worker)
  if (own !== undefined && mayHaveSlot(grid, own.instance)) {
    begin(grid, own, worker)
    return true
  }
  // Of those that lack no slot of theirs one may take this if any may.
  if (!mayAnyHaveSlot(grid)) return false
  const task = recallStaged(grid, worker) ?? nextFor(worker, () => pickHead(grid, worker, worker.free))
  if (task === undefined) return false
  grant(grid, task, { worker, staged: false })
  return true
}

/** Kept for a large task: that one or nothing. */
function takeKept(grid: Grid, worker: Worker, pool: Pool): boolean {
  const line = pool.order.first()
  const task = line === undefined ? undefined : headOf(line)
  if (task !== undefined && !within(task.demand, worker.free)) return false
  unkeep(grid, pool)
  if (task === undefined) return true
  pool.blockedSince = undefined
  grant(grid, task, { worker, staged: false })
  return true
}

function stagedHere(worker: Worker): Task | undefined {
  for (let lease = worker.firstStaged; lease !== undefined; lease = lease.nextHeld) {
    const { task } = lease
    if (task?.state === 'assigned' && within(task.demand, worker.free)) return task
  }
  return undefined
}

/** What waits staged on a full worker is taken back at once when a slot falls free elsewhere. */
function recallStaged(grid: Grid, worker: Worker): Task | undefined {
  for (const pool of worker.class.pools) {
    if (pool.staged.size === 0 || !within(pool.floor, worker.free)) continue
    for (const lease of pool.staged.oldest(LOOK_AHEAD)) {
      const { task, workerId } = lease
      if (task?.state !== 'assigned' || !within(task.demand, worker.free) || avoids(task, worker)) continue
      const { fencing } = lease
      awaitConfirmation(grid, lease)
      release(grid, task, 0)
      grid.effects.push({ kind: 'stop', task: task.id, worker: workerId, fencing, why: 'recalled' })
      moveTask(grid, task, 'yield')
      task.attempt--
      return task
    }
  }
  return undefined
}
