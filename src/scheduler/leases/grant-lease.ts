import type { GridState } from '../grid.ts'
import { freeWorker, moveTask } from '../grid.ts'
import { dequeue } from '../queue/enqueue.ts'
import { estimatedMs } from '../queue/requirement-group.ts'
import type { Task } from '../queue/task.ts'
import { charge, correctCharge, servedOf } from '../shares/shares.ts'
import { noteInputs } from '../workers/affinity.ts'
import { returnAmounts, takeAmounts, type Worker } from '../workers/worker.ts'
import { quietUntil, watchWorker } from '../workers/worker-watch.ts'
import { linkLease, moveToSlot, unlinkLease } from './held-leases.ts'
import type { AttemptLease } from './lease.ts'

/** How many slots' worth a task is: one that takes four processors is charged for four. */
const widthOf = ({ demand }: Task): number => Math.max(1, demand.cpu)

/** Hands a queued task to a worker: into a slot, or to be staged until one is free. */
export function grantLease(grid: GridState, task: Task, { worker, staged }: { worker: Worker; staged: boolean }): void {
  dequeue(grid, task)
  moveTask(grid, task, 'assign')
  // Whole milliseconds: a fraction could not be kept within the lease, and would be one more thing to fetch.
  const charged = Math.round(estimatedMs(task) * widthOf(task))
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
  attachLease(
    task,
    grid.leaseTable.take(task, { workerId, epoch, counter, grantedAt: grid.now, staged, charged }),
    worker,
  )
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
export function attachLease(task: Task, lease: AttemptLease, worker: Worker): void {
  setLease(task, lease)
  lease.worker = worker
  linkLease(worker, lease)
  if (lease.staged) task.group.pool.staged.add(lease)
  else {
    worker.used++
    takeAmounts(worker, task.demand)
  }
}

/** The task has a lease, on a worker that may not be there. */
export function setLease(task: Task, lease: AttemptLease): void {
  if (task.lease === undefined) {
    task.instance.active++
    task.group.active++
  }
  task.lease = lease
}

/** What was staged moves into a slot of the same worker. */
export function startStaged(grid: GridState, task: Task, worker: Worker): void {
  const { lease } = task
  if (lease === undefined) return
  moveToSlot(worker, lease)
  lease.stagedIn?.delete(lease)
  worker.used++
  takeAmounts(worker, task.demand)
  grid.effects.push({ kind: 'begin', task: task.id, worker: worker.id, fencing: lease.fencing })
}

/** Takes the task off its worker, without ending the lease. */
export function detachLease(grid: GridState, task: Task): void {
  const { lease } = task
  const worker = lease?.worker
  if (lease === undefined || worker === undefined) return
  unlinkLease(worker, lease)
  if (lease.staged) lease.stagedIn?.delete(lease)
  else {
    worker.used--
    returnAmounts(worker, task.demand)
  }
  lease.worker = undefined
  freeWorker(grid, worker)
}

/** Ends the lease. What the instance pays for is the time that its own task took, not what we lost. */
export function releaseLease(grid: GridState, task: Task, ranMs: number): AttemptLease | undefined {
  const { lease, group, instance } = task
  if (lease === undefined) return undefined
  detachLease(grid, task)
  if (grid.awaited.size > 0) {
    const awaited = grid.awaited.get(lease.workerId)
    if (awaited?.delete(task) && awaited.size === 0) grid.awaited.delete(lease.workerId)
  }
  correctCharge(task, ranMs * widthOf(task) - lease.charged)
  task.lease = undefined
  grid.leaseTable.giveBack(lease)
  instance.active--
  group.active--
  return lease
}
