import type { EventContext } from '../model/context.ts'
import type { Instant } from '../model/events.ts'
import type { Task } from '../queue/records.ts'
import type { AttemptLease } from './lease.ts'

/** When a lease expires: not renewed, past the task's time-out, or not confirmed as stopped. */
export function leaseEndsAt({ options }: EventContext, { timeoutMs }: Task, lease: AttemptLease): Instant {
  let end = lease.renewedAt + options.leaseMs
  if (lease.stopBy !== undefined && lease.stopBy < end) end = lease.stopBy
  return Math.min(end, timeoutAt(options.timeoutGraceMs, lease, timeoutMs))
}

export const timeoutAt = (graceMs: number, { startedAt }: AttemptLease, timeoutMs: number | undefined): Instant =>
  startedAt === undefined || timeoutMs === undefined ? Number.POSITIVE_INFINITY : startedAt + timeoutMs + graceMs
