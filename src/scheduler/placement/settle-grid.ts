import { grantLease, releaseLease, startStaged } from '../leases/grant-lease.ts'
import { currentLease, taskHeld } from '../leases/lease-table.ts'
import { awaitConfirmation } from '../leases/unconfirmed-ends.ts'
import { fitsWithin } from '../model/requirements.ts'
import { releaseKeptWorker } from '../queue/kept-workers.ts'
import { poolsServedBy } from '../queue/queue-state.ts'
import type { Task, WorkerPool } from '../queue/records.ts'
import type { Worker } from '../workers/records.ts'
import { hasSlot, isRegistered, mayStage, refreshWorker } from '../workers/worker.ts'
import { avoidsWorker, nextFor } from './avoided-workers.ts'
import { headOf, headOwedSlot, pickHead } from './next-task.ts'
import { placeTask } from './place-task.ts'
import { mayAnyHaveSlot, mayHaveSlot, offerKept, type PlacementState } from './reserved-slots.ts'

/** How many tasks that are staged on other workers are tried. */
const LOOK_AHEAD = 4

/** Ends an event: places the tasks that it queued and fills the workers that it freed, until nothing more changes. */
export function settleGrid(grid: PlacementState): void {
  const { toPlace, freed } = grid
  do {
    for (const task of toPlace) if (task.state === 'queued' && !task.inGroup) placeTask(grid, task)
    empty(toPlace)
    for (const worker of freed) {
      worker.freed = false
      if (isRegistered(worker)) fillOrShutDown(grid, worker)
    }
    empty(freed)
  } while (toPlace.length > 0)
  for (const worker of grid.answered) {
    worker.asked = 0
    refreshWorker(grid, worker)
  }
  empty(grid.answered)
}

/** Removes the elements one by one: setting `length` to 0 would free memory that the next event needs again. */
function empty(list: unknown[]): void {
  while (list.length > 0) list.pop()
}

function fillOrShutDown(grid: PlacementState, worker: Worker): void {
  fillWorker(grid, worker)
  if (!worker.shutdownWhenEmpty || worker.firstHeld !== undefined) return
  worker.shutdownWhenEmpty = false
  grid.effects.push({ kind: 'order', worker: worker.id, order: 'shutdown' })
}

/** Fills the worker's free slots with waiting tasks by fair share, and then its staging places. */
function fillWorker(grid: PlacementState, worker: Worker): void {
  while (hasSlot(grid, worker) && takeNext(grid, worker)) {
    // each round leases one task
  }
  while (mayStage(grid, worker)) {
    const task = nextFor(worker, () => pickHead(grid, worker, worker.total))
    if (task === undefined) break
    grantLease(grid, task, { worker, staged: true })
  }
  refreshWorker(grid, worker)
}

function takeNext(grid: PlacementState, worker: Worker): boolean {
  const keptFor = worker.kept ? grid.keptFor.get(worker) : undefined
  if (keptFor !== undefined) return takeKept(grid, worker, keptFor)
  const owed = headOwedSlot(grid, worker)
  if (owed !== undefined) {
    grantLease(grid, owed, { worker, staged: false })
    offerKept(grid, owed.instance)
    return true
  }
  const own = stagedHere(grid, worker)
  if (own !== undefined && mayHaveSlot(grid, own.instance)) {
    startStaged(grid, own, worker)
    return true
  }
  // An instance that lacks no reserved slot may use this one only if more slots are free than are reserved.
  if (!mayAnyHaveSlot(grid)) return false
  const task = recallStaged(grid, worker) ?? nextFor(worker, () => pickHead(grid, worker, worker.free))
  if (task === undefined) return false
  grantLease(grid, task, { worker, staged: false })
  return true
}

/** A kept worker accepts only the next task of its pool. */
function takeKept(grid: PlacementState, worker: Worker, pool: WorkerPool): boolean {
  const instanceQueue = pool.order.first()
  const task = instanceQueue === undefined ? undefined : headOf(instanceQueue)
  if (task !== undefined && !fitsWithin(task.demand, worker.free)) return false
  releaseKeptWorker(grid, pool)
  if (task === undefined) return true
  pool.blockedSince = undefined
  grantLease(grid, task, { worker, staged: false })
  return true
}

function stagedHere(grid: PlacementState, worker: Worker): Task | undefined {
  for (let lease = worker.firstStaged; lease !== undefined; lease = lease.nextHeld) {
    const task = taskHeld(grid, lease)
    if (task?.state === 'assigned' && fitsWithin(task.demand, worker.free)) return task
  }
  return undefined
}

/** Recalls a task that is staged on a full worker, since this worker has a free slot for it. */
function recallStaged(grid: PlacementState, worker: Worker): Task | undefined {
  for (const pool of poolsServedBy(grid, worker.class)) {
    if (pool.staged.size === 0 || !fitsWithin(pool.floor, worker.free)) continue
    for (const { task } of pool.staged.oldest(LOOK_AHEAD)) {
      if (task?.state !== 'assigned' || !fitsWithin(task.demand, worker.free) || avoidsWorker(task, worker)) continue
      const lease = currentLease(grid, task)
      if (lease === undefined) continue
      const { fencing, workerId } = lease
      awaitConfirmation(grid, lease)
      releaseLease(grid, task, 0)
      grid.effects.push({ kind: 'stop', task: task.id, worker: workerId, fencing, why: 'recalled' })
      grid.tasks.move(task, 'yield')
      task.attempt--
      return task
    }
  }
  return undefined
}
