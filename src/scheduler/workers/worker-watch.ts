import type { GridState } from '../grid.ts'
import type { AttemptLease } from '../leases/lease.ts'
import type { Instant } from '../model/events.ts'
import type { Task } from '../queue/task.ts'
import type { Worker } from './worker.ts'

/** One timer a worker, for the first thing that may befall it or its tasks. */
export function watchWorker(grid: GridState, worker: Worker, by: Instant): void {
  if (by >= worker.lookAt) return
  worker.lookAt = by
  grid.timers.push(by, { look: 'worker', worker })
}

/** When a lease ends by itself: not renewed, out of its time, or told to stop and never confirmed. */
export function leaseEndsAt({ options }: GridState, { timeoutMs }: Task, lease: AttemptLease): Instant {
  let end = lease.renewedAt + options.leaseMs
  if (lease.stopBy !== undefined && lease.stopBy < end) end = lease.stopBy
  return Math.min(end, timeoutAt(options.timeoutGraceMs, lease, timeoutMs))
}

export const timeoutAt = (graceMs: number, { startedAt }: AttemptLease, timeoutMs: number | undefined): Instant =>
  startedAt === undefined || timeoutMs === undefined ? Number.POSITIVE_INFINITY : startedAt + timeoutMs + graceMs

/** When it is lost if nothing is heard of it. */
export const lostAt = ({ options }: GridState, { lastHeard, disconnectedAt }: Worker): Instant =>
  Math.min(
    lastHeard + options.heartbeatTimeoutMs,
    disconnectedAt === undefined ? Number.POSITIVE_INFINITY : disconnectedAt + options.disconnectGraceMs,
  )

/** Nothing about the worker alone is due before; what is due about its tasks is looked up when it is looked at. */
export const quietUntil = (grid: GridState, worker: Worker): Instant =>
  Math.min(lostAt(grid, worker), worker.lastHeard + grid.options.unhealthyAfterMs)
