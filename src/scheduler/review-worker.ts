import type { GridState } from './grid.ts'
import { freeWorker, moveWorker } from './grid.ts'
import { heldTasks } from './leases/held-leases.ts'
import type { AttemptLease } from './leases/lease.ts'
import { failAttempt } from './leases/retry.ts'
import { awaitConfirmation, nextUnconfirmedAt } from './leases/unconfirmed-ends.ts'
import type { Task } from './queue/task.ts'
import { healthProblem } from './workers/health.ts'
import type { Worker } from './workers/worker.ts'
import { leaseEndsAt, lostAt, timeoutAt, watchWorker } from './workers/worker-watch.ts'

/** A worker that does badly as a machine gets less work until it does better. */
export function reviewWorker(grid: GridState, worker: Worker): void {
  const degraded = worker.state === 'DEGRADED'
  if (!degraded && worker.state !== 'ONLINE' && worker.state !== 'BUSY') return
  const { health } = worker
  const counted = grid.options.degradeByLoad ? health : { ...health, load: 0 }
  const what = healthProblem(counted, grid.now, degraded) ?? silence(grid, worker)
  if (what !== undefined && !degraded) moveWorker(grid, worker, { move: 'degrade', what })
  else if (what === undefined && degraded) moveWorker(grid, worker, { move: 'recover', what: 'it does well again' })
  else return
  freeWorker(grid, worker)
}

const silence = ({ now, options }: GridState, { lastHeard }: Worker): string | undefined =>
  now - lastHeard >= options.unhealthyAfterMs ? `it has said nothing for ${seconds(now - lastHeard)}` : undefined

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`

/** Ends the leases whose time is up; answers when the next one's is. In a tick only. */
export function expireLeases(grid: GridState, worker: Worker): void {
  for (const task of heldTasks(worker)) {
    const { lease } = task
    if (lease !== undefined && leaseEndsAt(grid, task, lease) <= grid.now) endLease(grid, task, lease)
  }
}

function endLease(grid: GridState, task: Task, lease: AttemptLease): void {
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
  // A worker ends a command that ran too long, and reports it. One that does not is at fault: another one is tried.
  const limit = seconds(task.timeoutMs ?? 0)
  const what = `worker ${workerId} did not report the end of a task with a limit of ${limit}`
  failAttempt(grid, task, { what, lostWorker: workerId })
}

/** Sets the timer for whatever may befall the worker next. */
export function watchAgain(grid: GridState, worker: Worker): void {
  const unhealthyAt = worker.lastHeard + grid.options.unhealthyAfterMs
  let next = lostAt(grid, worker)
  if (unhealthyAt > grid.now && unhealthyAt < next) next = unhealthyAt
  if (worker.unconfirmed.size > 0) next = Math.min(next, nextUnconfirmedAt(worker))
  for (let lease = worker.firstHeld; lease !== undefined; lease = lease.nextHeld)
    if (lease.task !== undefined) next = Math.min(next, leaseEndsAt(grid, lease.task, lease))
  watchWorker(grid, worker, next)
}
