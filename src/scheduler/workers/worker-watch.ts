import type { Instant } from '../model/events.ts'
import type { Worker } from './worker.ts'
import type { WorkersState } from './workers-state.ts'

/** Sets the worker's timer. A worker has one timer, for the earliest deadline of the worker and of its leases. */
export function watchWorker(grid: WorkersState, worker: Worker, by: Instant): void {
  if (by >= worker.lookAt) return
  worker.lookAt = by
  grid.timers.push(by, { look: 'worker', worker })
}

/** When the worker is considered lost if it sends nothing until then. */
export const lostAt = ({ options }: WorkersState, { lastHeard, disconnectedAt }: Worker): Instant =>
  Math.min(
    lastHeard + options.heartbeatTimeoutMs,
    disconnectedAt === undefined ? Number.POSITIVE_INFINITY : disconnectedAt + options.disconnectGraceMs,
  )

/** The first deadline of the worker itself; the deadlines of its leases are computed when its timer is due. */
export const quietUntil = (grid: WorkersState, worker: Worker): Instant =>
  Math.min(lostAt(grid, worker), worker.lastHeard + grid.options.unhealthyAfterMs)
