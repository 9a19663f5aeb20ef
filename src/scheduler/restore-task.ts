import { addWaiter, requestCancel } from './cancel-task.ts'
import type { GridState } from './grid.ts'
import { failAttempt, retryAt, yieldTask } from './leases/end-attempt.ts'
import { setLease } from './leases/grant-lease.ts'
import { currentLease } from './leases/lease-table.ts'
import type { Restore } from './model/events.ts'
import { demandedAmounts } from './model/requirements.ts'
import { instanceNamed, newTask } from './queue/new-task.ts'
import type { Task } from './queue/records.ts'

/**
 * Restores a task from the journal after a restart of the server. A leased task is not queued at once: its worker most
 * likely still runs it and will reconnect soon.
 */
export function restoreTask(grid: GridState, event: Restore): void {
  if (grid.tasks.get(event.task) !== undefined) return
  // Workers have offered all properties of an accepted task. Earlier versions of the journal did not record the names.
  for (const { name } of event.properties) grid.namesOffered.add(name)
  const instance = instanceNamed(grid, event.instance)
  const demand = demandedAmounts(event.demands)
  const task = newTask(grid, event, { instance, demand, ageMs: Math.max(0, event.ageMs), waiters: undefined })
  for (const waiter of event.waiters) addWaiter(task, waiter)
  task.faults = event.faults
  task.lostWorkers = [...event.lostWorkers]
  task.avoids = task.lostWorkers
  grid.tasks.move(task, 'enqueue')
  if (event.lease !== undefined) awaitWorker(grid, task, event.lease)
  else if (event.retryInMs !== undefined && event.retryInMs > 0) {
    // Repeats the moves of the time before the restart.
    grid.tasks.move(task, 'assign')
    grid.tasks.move(task, 'lapse')
    retryAt(grid, task, grid.now + event.retryInMs)
  } else if (!event.stopping) grid.toPlace.push(task)
  if (event.stopping) requestCancel(grid, task, 'cancelled')
}

function awaitWorker(grid: GridState, task: Task, { worker, fencing, started }: NonNullable<Restore['lease']>): void {
  grid.tasks.move(task, 'assign')
  if (started) grid.tasks.move(task, 'start')
  task.attempt = 1
  const lease = grid.leases.open(task, {
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

/** Queues the tasks of a worker again that did not register within `reconnectGraceMs` after the restart. */
export function expireAwaited(grid: GridState, workerId: string): void {
  for (const task of [...(grid.awaited.get(workerId) ?? [])]) {
    const lease = currentLease(grid, task)
    if (lease === undefined || lease.renewedAt + grid.options.reconnectGraceMs > grid.now) continue
    const what = `worker ${workerId} did not reconnect after the restart`
    if (task.interactive) failAttempt(grid, task, { what })
    else yieldTask(grid, task, what)
  }
}
