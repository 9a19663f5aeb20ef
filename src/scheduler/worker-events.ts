import type { GridState } from './grid.ts'
import { failAttempt, yieldTask } from './leases/end-attempt.ts'
import { currentLease, heldTasks } from './leases/lease-table.ts'
import { awaitConfirmation, clearRefusals, confirmUnlisted } from './leases/unconfirmed-ends.ts'
import type { AttemptRef, Heartbeat } from './model/events.ts'
import { unpark } from './queue/enqueue.ts'
import { notePoolBlocked, releaseKeptWorker } from './queue/kept-workers.ts'
import { noteIdleClass } from './queue/matchmaking.ts'
import { poolLiveChanged } from './queue/no-worker-grace.ts'
import { poolsServedBy } from './queue/queue-state.ts'
import { reviewWorker } from './review-worker.ts'
import type { Worker } from './workers/records.ts'
import { freeWorker, moveWorker, refreshWorker, setListed } from './workers/worker.ts'
import { addShape, removeShape } from './workers/worker-class.ts'

/** Removes a worker that disappeared: the attempts that it held fail. */
export function loseWorker(grid: GridState, worker: Worker, what: string): void {
  const tasks = heldTasks(grid, worker)
  removeWorker(grid, worker, what)
  for (const task of tasks) {
    if (currentLease(grid, task)?.staged) yieldTask(grid, task, what)
    else failAttempt(grid, task, { what: `lost worker ${worker.id}: ${what}`, lostWorker: worker.id })
  }
}

/**
 * Removes a worker that deregistered or was preempted: its tasks are queued again, and this does not count as a fault.
 */
export function dismissWorker(grid: GridState, worker: Worker, what: string): void {
  const tasks = heldTasks(grid, worker)
  removeWorker(grid, worker, what)
  for (const task of tasks) yieldTask(grid, task, `worker ${worker.id}: ${what}`)
}

export function recordHeartbeat(grid: GridState, worker: Worker, { holds, load, draining }: Heartbeat): void {
  worker.lastMessageAt = grid.now
  worker.disconnectedAt = undefined
  if (load !== undefined && load >= 0) worker.health.load = Math.min(1, load)
  if (worker.state === 'REGISTERING') admit(grid, worker)
  if (draining && worker.state !== 'DRAINING') drainWorker(grid, worker)
  if (holds !== undefined) confirmUnlisted(grid, worker, holds)
  renew(grid, worker, holds)
  clearRefusals(worker)
  reviewWorker(grid, worker)
  freeWorker(grid, worker)
}

function renew(grid: GridState, worker: Worker, holds: readonly AttemptRef[] | undefined): void {
  const listed = holds === undefined ? undefined : new Map(holds.map((attempt) => [attempt.task, attempt]))
  for (const task of heldTasks(grid, worker)) {
    const lease = currentLease(grid, task)
    if (lease === undefined) continue
    const claimed = listed?.get(task.id)
    const held = listed === undefined || (claimed !== undefined && lease.isUnder(claimed.fencing))
    if (held) lease.renewedAt = grid.now
    if (held && claimed !== undefined) listed?.delete(task.id)
    // The lease may not have reached the worker when it sent this heartbeat.
    const mayBeInTransit = grid.now - lease.grantedAt < grid.options.deliveryGraceMs
    if (held || mayBeInTransit) continue
    const what = `worker ${worker.id} no longer runs it`
    if (lease.staged) yieldTask(grid, task, what)
    else failAttempt(grid, task, { what })
  }
  if (listed !== undefined) stopUnknownAttempts(grid, worker, listed)
}

/** Stops new leases to the worker; its staged tasks are queued again. */
export function drainWorker(grid: GridState, worker: Worker): void {
  if (isLive(worker)) ceaseLive(grid, worker)
  moveWorker(grid, worker, { move: 'drain', what: 'draining' })
  for (const task of heldTasks(grid, worker)) {
    const lease = currentLease(grid, task)
    if (!lease?.staged) continue
    const { fencing } = lease
    awaitConfirmation(grid, lease)
    grid.effects.push({ kind: 'stop', task: task.id, worker: worker.id, fencing, why: 'recalled' })
    yieldTask(grid, task, 'the worker is draining')
  }
  freeWorker(grid, worker)
}

export function resumeWorker(grid: GridState, worker: Worker): void {
  if (worker.state !== 'DRAINING') return
  worker.shutdownWhenEmpty = false
  moveWorker(grid, worker, { move: 'resume', what: 'it accepts tasks again' })
  becomeLive(grid, worker)
}

/** Stops attempts that the worker listed and that have no lease. */
export function stopUnknownAttempts(
  grid: GridState,
  { id: worker }: Worker,
  listed: ReadonlyMap<string, AttemptRef>,
): void {
  for (const { task, fencing } of listed.values())
    grid.effects.push({ kind: 'stop', task, worker, fencing, why: 'superseded' })
}

export function admit(grid: GridState, worker: Worker): void {
  moveWorker(grid, worker, { move: 'admit', what: 'it is ready' })
  becomeLive(grid, worker)
}

/** Counts the worker as one that can serve the tasks of its pools. */
function becomeLive(grid: GridState, worker: Worker): void {
  const isNew = addShape(worker.class, worker.total)
  liveChanged(grid, worker, 1)
  if (isNew) for (const pool of poolsServedBy(grid, worker.class)) unpark(pool)
  freeWorker(grid, worker)
}

function ceaseLive(grid: GridState, worker: Worker): void {
  removeShape(worker.class, worker.total)
  liveChanged(grid, worker, -1)
  const pool = grid.keptFor.get(worker)
  if (pool === undefined) return
  releaseKeptWorker(grid, pool)
  notePoolBlocked(grid, pool)
}

const isLive = ({ state }: Worker): boolean => state === 'ONLINE' || state === 'BUSY' || state === 'DEGRADED'

/** Removes the worker from all tables. The caller decides about the tasks that it held. */
export function removeWorker(grid: GridState, worker: Worker, what: string): void {
  if (isLive(worker)) ceaseLive(grid, worker)
  moveWorker(grid, worker, { move: 'lose', what })
  grid.workerCounts.OFFLINE-- // workers that are gone are not counted
  refreshWorker(grid, worker)
  setListed(worker.class.workers, worker, { place: 'classAt', listed: false })
  grid.workers.delete(worker.id)
  worker.free.close()
  noteIdleClass(grid, worker.class)
}

/** Updates the pools of the worker's class when the first live worker arrives or the last one leaves. */
function liveChanged(grid: GridState, { class: own }: Worker, by: 1 | -1): void {
  own.live += by
  if (own.live !== (by === 1 ? 1 : 0)) return
  for (const pool of poolsServedBy(grid, own)) {
    pool.live += by
    if (pool.live === (by === 1 ? 1 : 0)) poolLiveChanged(grid, pool)
  }
}
