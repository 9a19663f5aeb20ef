import type { GridState } from './grid.ts'
import { finishTask } from './leases/end-attempt.ts'
import { currentLease } from './leases/lease-table.ts'
import type { Waiter } from './model/events.ts'
import type { Task } from './queue/records.ts'
import { watchWorker } from './workers/worker.ts'

export function joinTask(grid: GridState, { task: id, waiter }: { task: string; waiter: Waiter }): void {
  const task = grid.tasks.get(id)
  if (task !== undefined) addWaiter(task, waiter)
}

export function leaveTask(grid: GridState, { task: id, waiter }: { task: string; waiter: Waiter }): void {
  const task = grid.tasks.get(id)
  if (task !== undefined && removeWaiter(task, waiter)) requestCancel(grid, task, 'no client waits for it')
}

/** Cancels a task: without a lease at once, otherwise its worker stops it first, and it can only end as cancelled. */
export function requestCancel(grid: GridState, task: Task, what: string): void {
  const lease = currentLease(grid, task)
  if (task.state === 'stopping') return
  if (lease === undefined) {
    finishTask(grid, task, { move: 'cancel', why: 'cancelled', what })
    return
  }
  grid.tasks.move(task, 'cancel')
  grid.tasks.stopMerging(task)
  lease.stopBy = grid.now + grid.options.stopGraceMs
  grid.effects.push({ kind: 'stopping', task: task.id })
  grid.effects.push({
    kind: 'stop',
    task: task.id,
    worker: lease.workerId,
    fencing: lease.fencing,
    why: 'cancelled',
  })
  if (lease.worker !== undefined) watchWorker(grid, lease.worker, lease.stopBy)
}

export function addWaiter(task: Task, waiter: Waiter): void {
  if (task.waiters === undefined || task.waiters === waiter) task.waiters = waiter
  else if (typeof task.waiters === 'string') task.waiters = new Set([task.waiters, waiter])
  else task.waiters.add(waiter)
}

/** Returns whether the removed waiter was the last one. */
function removeWaiter(task: Task, waiter: Waiter): boolean {
  if (task.waiters === waiter) task.waiters = undefined
  else if (typeof task.waiters !== 'object' || !task.waiters.delete(waiter) || task.waiters.size > 0) return false
  return true
}
