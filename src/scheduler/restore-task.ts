import { cancelTask, newTask } from './client-events.ts'
import type { GridState } from './grid.ts'
import { instanceOf, moveTask } from './grid.ts'
import { setLease } from './leases/grant-lease.ts'
import { failAttempt, retryAt, yieldTask } from './leases/retry.ts'
import type { Restore } from './model/events.ts'
import type { Task } from './queue/task.ts'
import { addWaiter } from './queue/waiters.ts'

/**
 * Takes in a task of before a restart. One that was out on a worker is not queued again at once: the worker most likely
 * still runs it, and will be back in a moment.
 */
export function restoreTask(grid: GridState, event: Restore): void {
  if (grid.tasks.has(event.task)) return
  const instance = instanceOf(grid, event.instance)
  const task = newTask(grid, event, { instance, ageMs: Math.max(0, event.ageMs) })
  for (const waiter of event.waiters) addWaiter(task, waiter)
  task.faults = event.faults
  task.lostWorkers = [...event.lostWorkers]
  task.avoids = task.lostWorkers
  moveTask(grid, task, 'enqueue')
  if (event.lease !== undefined) awaitWorker(grid, task, event.lease)
  else if (event.retryInMs !== undefined && event.retryInMs > 0) {
    // Along the ways that it went before.
    moveTask(grid, task, 'assign')
    moveTask(grid, task, 'lapse')
    retryAt(grid, task, grid.now + event.retryInMs)
  } else if (!event.stopping) grid.toPlace.push(task)
  if (event.stopping) cancelTask(grid, task, 'cancelled')
}

function awaitWorker(grid: GridState, task: Task, { worker, fencing, started }: NonNullable<Restore['lease']>): void {
  moveTask(grid, task, 'assign')
  if (started) moveTask(grid, task, 'start')
  task.attempt = 1
  const lease = grid.leaseTable.take(task, {
    workerId: worker,
    ...fencing,
    grantedAt: grid.now,
    staged: false,
    charged: 0,
  })
  if (started) lease.startedAt = grid.now
  setLease(task, lease)
  const awaited = grid.awaited.get(worker)
  if (awaited === undefined) grid.awaited.set(worker, new Set([task]))
  else awaited.add(task)
  grid.timers.push(grid.now + grid.options.reconnectGraceMs, { look: 'awaited', workerId: worker })
}

/** The worker has not come back in time: its tasks are anybody's. */
export function expireAwaited(grid: GridState, workerId: string): void {
  for (const task of [...(grid.awaited.get(workerId) ?? [])]) {
    const { lease } = task
    if (lease === undefined || lease.renewedAt + grid.options.reconnectGraceMs > grid.now) continue
    const what = `worker ${workerId} did not come back after the restart`
    if (task.interactive) failAttempt(grid, task, { what })
    else yieldTask(grid, task, what)
  }
}
