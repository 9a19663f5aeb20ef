import type { GridState } from './grid.ts'
import { failAttempt, yieldTask } from './leases/end-attempt.ts'
import { type AttemptLease, currentLease, heldTasks, leaseEndsAt, timeoutAt } from './leases/lease-table.ts'
import { awaitConfirmation, nextUnconfirmedAt } from './leases/unconfirmed-ends.ts'
import type { Task } from './queue/records.ts'
import type { Worker } from './workers/records.ts'
import { freeWorker, lostAt, moveWorker, watchWorker } from './workers/worker.ts'

/** Degrades an unhealthy worker, which then gets fewer tasks, and recovers a degraded one that is healthy again. */
export function reviewWorker(grid: GridState, worker: Worker): void {
  const degraded = worker.state === 'DEGRADED'
  if (!degraded && worker.state !== 'ONLINE' && worker.state !== 'BUSY') return
  const byLoad = grid.options.degradeByLoad
  const what = worker.health.problem(grid.now, { degraded, byLoad }) ?? silence(grid, worker)
  if (what !== undefined && !degraded) moveWorker(grid, worker, { move: 'degrade', what })
  else if (what === undefined && degraded) moveWorker(grid, worker, { move: 'recover', what: 'healthy again' })
  else return
  freeWorker(grid, worker)
}

const silence = ({ now, options }: GridState, { lastMessageAt }: Worker): string | undefined =>
  now - lastMessageAt >= options.unhealthyAfterMs ? `no message for ${seconds(now - lastMessageAt)}` : undefined

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`

/** Ends the worker's expired leases. Called in a tick only. */
export function expireLeases(grid: GridState, worker: Worker): void {
  for (const task of heldTasks(grid, worker)) {
    const lease = currentLease(grid, task)
    if (lease !== undefined && leaseEndsAt(grid, task, lease) <= grid.now) expireLease(grid, task, lease)
  }
}

function expireLease(grid: GridState, task: Task, lease: AttemptLease): void {
  const { options, now } = grid
  const { workerId, fencing } = lease
  awaitConfirmation(grid, lease)
  if (task.state === 'stopping') {
    failAttempt(grid, task, { what: 'cancelled' })
    return
  }
  const late = timeoutAt(options.timeoutGraceMs, lease, task.timeoutMs) <= now
  grid.effects.push({ kind: 'stop', task: task.id, worker: workerId, fencing, why: late ? 'timeout' : 'superseded' })
  if (!late) {
    const what = `worker ${workerId} did not renew its lease`
    // A task that was only staged has not been tried.
    if (lease.staged) yieldTask(grid, task, what)
    else failAttempt(grid, task, { what, lostWorker: workerId })
    return
  }
  // The worker should have stopped the command and reported the time-out. It did not, so another worker is tried.
  const limit = seconds(task.timeoutMs ?? 0)
  const what = `worker ${workerId} did not report the end of a task with a time-out of ${limit}`
  failAttempt(grid, task, { what, lostWorker: workerId })
}

/** Sets the worker's timer to the earliest deadline of the worker and of its leases. */
export function watchAgain(grid: GridState, worker: Worker): void {
  const unhealthyAt = worker.lastMessageAt + grid.options.unhealthyAfterMs
  let next = lostAt(grid, worker)
  if (unhealthyAt > grid.now && unhealthyAt < next) next = unhealthyAt
  if (worker.unconfirmed.size > 0) next = Math.min(next, nextUnconfirmedAt(worker))
  for (const task of heldTasks(grid, worker)) {
    const lease = currentLease(grid, task)
    if (lease !== undefined) next = Math.min(next, leaseEndsAt(grid, task, lease))
  }
  watchWorker(grid, worker, next)
}
