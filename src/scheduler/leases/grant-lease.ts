import { dequeue } from '../queue/enqueue.ts'
import { NO_LEASE, type RequirementGroup, type Task } from '../queue/records.ts'
import { accountUsage, charge, correctCharge } from '../shares/usage-accounts.ts'
import { noteInputs } from '../workers/affinity.ts'
import type { HeldLease, HeldLeases, Worker } from '../workers/records.ts'
import { freeWorker, watchWorker } from '../workers/worker.ts'
import { type AttemptLease, currentLease, type LeaseState } from './lease-table.ts'

/** The weight of the latest attempt in the learned duration of a group. */
const LEARNING = 0.2

/** Updates the learned duration. Whole milliseconds: V8 would store a fraction outside of the object. */
export function learnDuration(group: RequirementGroup, tookMs: number): void {
  group.estimateMs = Math.round(group.estimateMs + LEARNING * (tookMs - group.estimateMs))
}

/**
 * The caller's estimate counts, but at least a quarter of the learned duration: a low estimate must not gain a share.
 */
const estimatedMs = ({ estimateMs, group }: Task): number =>
  Math.max(1, estimateMs === undefined ? group.estimateMs : Math.max(estimateMs, group.estimateMs / 4))

/** The number of slots that a task is charged for: a task with four processors pays for four. */
const widthOf = ({ demand }: Task): number => Math.max(1, demand.cpu)

/** Leases a queued task to a worker: into a slot, or staged until a slot is free. */
export function grantLease(
  grid: LeaseState,
  task: Task,
  { worker, staged }: { worker: Worker; staged: boolean },
): void {
  if (task.inGroup) dequeue(grid, task)
  grid.tasks.move(task, 'assign')
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
  const expiresAt = grid.now + grid.options.leaseMs
  watchWorker(grid, worker, expiresAt)
  grid.effects.push({
    kind: 'leased',
    task: task.id,
    worker: worker.id,
    fencing: { epoch, counter },
    attempt: task.attempt,
    expiresAt,
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
    worker.free.take(task.demand)
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
  worker.free.take(task.demand)
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
    worker.free.giveBack(task.demand)
  }
  lease.worker = undefined
  freeWorker(grid, worker)
}

/**
 * Ends the lease. The instance is charged for `ranMs`, the time that its command ran, and not for time that the grid
 * lost.
 */
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

export function linkLease(held: HeldLeases, lease: HeldLease): void {
  const next = lease.staged ? undefined : held.firstStaged
  const previous = next === undefined ? held.lastHeld : next.previousHeld
  lease.nextHeld = next
  lease.previousHeld = previous
  if (next === undefined) held.lastHeld = lease
  else next.previousHeld = lease
  if (previous === undefined) held.firstHeld = lease
  else previous.nextHeld = lease
  if (!lease.staged) return
  held.firstStaged ??= lease
  held.staged++
}

export function unlinkLease(held: HeldLeases, lease: HeldLease): void {
  const { nextHeld: next, previousHeld: previous } = lease
  if (held.firstStaged === lease) held.firstStaged = next
  if (next === undefined) held.lastHeld = previous
  else next.previousHeld = previous
  if (previous === undefined) held.firstHeld = next
  else previous.nextHeld = next
  lease.nextHeld = undefined
  lease.previousHeld = undefined
  if (lease.staged) held.staged--
}

/** The staged lease gets a slot. */
export function moveToSlot(held: HeldLeases, lease: HeldLease): void {
  if (held.firstStaged === lease) {
    held.firstStaged = lease.nextHeld
    held.staged--
    lease.staged = false
    return
  }
  unlinkLease(held, lease)
  lease.staged = false
  linkLease(held, lease)
}
