import type { Grid } from '../grid.ts'
import { freeWorker, moveTask } from '../grid.ts'
import { dequeue } from '../queue/enqueue.ts'
import { estimateFor } from '../queue/requirement-group.ts'
import type { Task } from '../queue/task.ts'
import { charge, servedOf, settle } from '../shares/shares.ts'
import { noteInputs } from '../workers/affinity.ts'
import { giveRoom, takeRoom, type Worker } from '../workers/worker.ts'
import { quietUntil, watchWorker } from '../workers/worker-watch.ts'
import { hold, letGo, unstage } from './held-leases.ts'
import type { Lease } from './lease.ts'

/** How many slots' worth a task is: one that takes four processors is charged for four. */
const widthOf = ({ demand }: Task): number => Math.max(1, demand.cpu)

/** Hands a queued task to a worker: into a slot, or to be staged until one is free. */
export function grant(grid: Grid, task: Task, { worker, staged }: { worker: Worker; staged: boolean }): void {
  dequeue(grid, task)
  moveTask(grid, task, 'assign')
  // Whole milliseconds: a fraction could not be kept within the lease, and would be one more thing to fetch.
  const charged = Math.round(estimateFor(task) * widthOf(task))
  const reached = servedOf(task.instance)
  if (reached > worker.class.clock) worker.class.clock = reached
  if (reached > grid.clock) grid.clock = reached
  charge(task, charged)
  const { epoch } = grid.options
  const counter = ++grid.leases
  task.attempt++
  task.passedOver = 0
  worker.turn = grid.leases
  const { id: workerId } = worker
  attach(task, grid.stock.take(task, { workerId, epoch, counter, grantedAt: grid.now, staged, charged }), worker)
  noteInputs(task, worker)
  if (worker.pulls) {
    worker.asked--
    grid.answered.push(worker)
  }
  watchWorker(grid, worker, Math.min(quietUntil(grid, worker), grid.now + grid.options.leaseMs))
  grid.effects.push({
    kind: 'leased',
    task: task.id,
    worker: worker.id,
    fencing: { epoch, counter },
    attempt: task.attempt,
    expiresAt: grid.now + grid.options.leaseMs,
    prefetch: staged,
  })
}

/** The task takes its place on the worker. */
export function attach(task: Task, lease: Lease, worker: Worker): void {
  holdLease(task, lease)
  lease.worker = worker
  hold(worker, lease)
  if (lease.staged) task.lane.pool.staged.add(lease)
  else {
    worker.used++
    takeRoom(worker, task.demand)
  }
}

/** The task has a lease, on a worker that may not be there. */
export function holdLease(task: Task, lease: Lease): void {
  if (task.lease === undefined) {
    task.instance.active++
    task.lane.active++
  }
  task.lease = lease
}

/** What was staged moves into a slot of the same worker. */
export function begin(grid: Grid, task: Task, worker: Worker): void {
  const { lease } = task
  if (lease === undefined) return
  unstage(worker, lease)
  lease.stagedIn?.delete(lease)
  worker.used++
  takeRoom(worker, task.demand)
  grid.effects.push({ kind: 'begin', task: task.id, worker: worker.id, fencing: lease.fencing })
}

/** Takes the task off its worker, without ending the lease. */
export function detach(grid: Grid, task: Task): void {
  const { lease } = task
  const worker = lease?.worker
  if (lease === undefined || worker === undefined) return
  letGo(worker, lease)
  if (lease.staged) lease.stagedIn?.delete(lease)
  else {
    worker.used--
    giveRoom(worker, task.demand)
  }
  lease.worker = undefined
  freeWorker(grid, worker)
}

/** Ends the lease. What the instance pays for is the time that its own task took, not what we lost. */
export function release(grid: Grid, task: Task, ranMs: number): Lease | undefined {
  const { lease, lane, instance } = task
  if (lease === undefined) return undefined
  detach(grid, task)
  if (grid.awaited.size > 0) {
    const awaited = grid.awaited.get(lease.workerId)
    if (awaited?.delete(task) && awaited.size === 0) grid.awaited.delete(lease.workerId)
  }
  settle(task, ranMs * widthOf(task) - lease.charged)
  task.lease = undefined
  grid.stock.giveBack(lease)
  instance.active--
  lane.active--
  return lease
}
