import type { GridState } from './grid.ts'
import type { AttemptLease } from './leases/lease.ts'
import { leaseEndsAt, timeoutAt } from './leases/lease-deadlines.ts'
import { currentLease, heldTasks } from './leases/lease-state.ts'
import { failAttempt } from './leases/retry.ts'
import { awaitConfirmation, nextUnconfirmedAt } from './leases/unconfirmed-ends.ts'
import type { Task } from './queue/records.ts'
import { healthProblem } from './workers/health.ts'
import type { Worker } from './workers/worker.ts'
import { lostAt, watchWorker } from './workers/worker-watch.ts'
import { freeWorker, moveWorker } from './workers/workers-state.ts'

/** Degrades an unhealthy worker, which then gets fewer tasks, and recovers a degraded one that is healthy again. */
export function reviewWorker(grid: GridState, worker: Worker): void {
  const degraded = worker.state === 'DEGRADED'
  if (!degraded && worker.state !== 'ONLINE' && worker.state !== 'BUSY') return
  const { health } = worker
  const counted = grid.options.degradeByLoad ? health : { ...health, load: 0 }
  const what = healthProblem(counted, grid.now, degraded) ?? silence(grid, worker)
  if (what !== undefined && !degraded) moveWorker(grid, worker, { move: 'degrade', what })
  else if (what === undefined && degraded) moveWorker(grid, worker, { move: 'recover', what: 'healthy again' })
  else return
  freeWorker(grid, worker)
}

const silence = ({ now, options }: GridState, { lastHeard }: Worker): string | undefined =>
  now - lastHeard >= options.unhealthyAfterMs ? `no message for ${seconds(now - lastHeard)}` : undefined

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
    failAttempt(grid, task, lease.staged ? { what } : { what, lostWorker: workerId })
    return
  }
  // The worker should have stopped the command and reported the time-out. It did not, so another worker is tried.
  const limit = seconds(task.timeoutMs ?? 0)
  const what = `worker ${workerId} did not report the end of a task with a time-out of ${limit}`
  failAttempt(grid, task, { what, lostWorker: workerId })
}

/** Sets the worker's timer to the earliest deadline of the worker and of its leases. */
export function watchAgain(grid: GridState, worker: Worker): void {
  const unhealthyAt = worker.lastHeard + grid.options.unhealthyAfterMs
  let next = lostAt(grid, worker)
  if (unhealthyAt > grid.now && unhealthyAt < next) next = unhealthyAt
  if (worker.unconfirmed.size > 0) next = Math.min(next, nextUnconfirmedAt(worker))
  for (const task of heldTasks(grid, worker)) {
    const lease = currentLease(grid, task)
    if (lease !== undefined) next = Math.min(next, leaseEndsAt(grid, task, lease))
  }
  watchWorker(grid, worker, next)
}
