import { dequeue } from '../queue/enqueue.ts'
import { moveTask } from '../queue/queue-state.ts'
import { NO_LEASE, type Task } from '../queue/records.ts'
import { estimatedMs } from '../queue/requirement-group.ts'
import { accountUsage, charge, correctCharge } from '../shares/shares.ts'
import { noteInputs } from '../workers/affinity.ts'
import { linkLease, moveToSlot, unlinkLease } from '../workers/held-leases.ts'
import { returnAmounts, takeAmounts, type Worker } from '../workers/worker.ts'
import { quietUntil, watchWorker } from '../workers/worker-watch.ts'
import { freeWorker } from '../workers/workers-state.ts'
import type { AttemptLease } from './lease.ts'
import { currentLease, type LeaseState } from './lease-state.ts'

/** The number of slots that a task is charged for: a task with four processors pays for four. */
const widthOf = ({ demand }: Task): number => Math.max(1, demand.cpu)

/** Leases a queued task to a worker: into a slot, or staged until a slot is free. */
export function grantLease(
  grid: LeaseState,
  task: Task,
  { worker, staged }: { worker: Worker; staged: boolean },
): void {
  dequeue(grid, task)
  moveTask(grid, task, 'assign')
  // Whole milliseconds: V8 would store a fraction outside of the lease.
  const charged = Math.round(estimatedMs(task) * widthOf(task))
  const reached = accountUsage(task.instance)
  if (reached > worker.class.clock) worker.class.clock = reached
  if (reached > grid.clock) grid.clock = reached
  charge(task, charged)
  const { epoch } = grid.options
  const counter = ++grid.leasesGranted
  task.attempt++
  task.passedOver = 0
  worker.turn = counter
  const { id: workerId } = worker
  attachLease(task, grid.leases.open(task, { workerId, epoch, counter, grantedAt: grid.now, staged, charged }), worker)
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

/** Adds the lease to the worker's list, and reserves a slot and the amounts. */
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

/** Records the task's lease. Its worker need not be registered. */
export function setLease(task: Task, lease: AttemptLease): void {
  if (task.leaseNumber === NO_LEASE) {
    task.instance.active++
    task.group.active++
  }
  task.leaseNumber = lease.number
}

/** Moves a staged task into a slot of the same worker. */
export function startStaged(grid: LeaseState, task: Task, worker: Worker): void {
  const lease = currentLease(grid, task)
  if (lease === undefined) return
  moveToSlot(worker, lease)
  lease.stagedIn?.delete(lease)
  worker.used++
  takeAmounts(worker, task.demand)
  grid.effects.push({ kind: 'begin', task: task.id, worker: worker.id, fencing: lease.fencing })
}

/** Removes the lease from its worker, without ending it. */
export function detachLease(grid: LeaseState, task: Task, lease: AttemptLease | undefined): void {
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

/** Ends the lease. The instance pays for `ranMs`, the time that its command ran, and not for time that the grid lost. */
export function releaseLease(grid: LeaseState, task: Task, ranMs: number): AttemptLease | undefined {
  const lease = currentLease(grid, task)
  if (lease === undefined) return undefined
  const { group, instance } = task
  detachLease(grid, task, lease)
  if (grid.awaited.size > 0) {
    const awaited = grid.awaited.get(lease.workerId)
    if (awaited?.delete(task) && awaited.size === 0) grid.awaited.delete(lease.workerId)
  }
  correctCharge(task, ranMs * widthOf(task) - lease.charged)
  task.leaseNumber = NO_LEASE
  grid.leases.close(lease)
  instance.active--
  group.active--
  return lease
}
