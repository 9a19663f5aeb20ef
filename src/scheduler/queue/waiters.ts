import type { Waiter } from '../model/events.ts'
import type { Task } from './records.ts'

export function addWaiter(task: Task, waiter: Waiter): void {
  if (task.waiters === undefined || task.waiters === waiter) task.waiters = waiter
  else if (typeof task.waiters === 'string') task.waiters = new Set([task.waiters, waiter])
  else task.waiters.add(waiter)
}

/** Returns whether the removed waiter was the last one. */
export function removeWaiter(task: Task, waiter: Waiter): boolean {
  if (task.waiters === waiter) task.waiters = undefined
  else if (typeof task.waiters !== 'object' || !task.waiters.delete(waiter) || task.waiters.size > 0) return false
  return true
}
