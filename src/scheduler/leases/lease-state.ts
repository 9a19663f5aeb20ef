import type { TimerSink } from '../model/context.ts'
import type { QueueDue, QueueState } from '../queue/queue-state.ts'
import { NO_LEASE, type Task } from '../queue/records.ts'
import type { HeldLease, HeldLeases } from '../workers/held-leases.ts'
import type { WorkerDue } from '../workers/workers-state.ts'
import type { AttemptLease } from './lease.ts'
import type { LeaseTable } from './lease-table.ts'

export type LeaseDue =
  | { readonly look: 'retry'; readonly task: Task }
  | { readonly look: 'awaited'; readonly workerId: string }

/** The scheduler's state that concerns leases, and the tasks and workers that they connect. */
export interface LeaseState extends QueueState {
  readonly leases: LeaseTable
  /** The counter of the last fencing number. */
  leasesGranted: number
  /** Leases of workers that have not registered again after a restart of the server, by worker id. */
  readonly awaited: Map<string, Set<Task>>
  /** A meaningless sum that keeps the reads of `preloadTask` from being optimised away. */
  preloaded: number
  readonly timers: TimerSink<WorkerDue | QueueDue | LeaseDue>
}

type WithLeases = Pick<LeaseState, 'leases'>

export const currentLease = ({ leases }: WithLeases, { leaseNumber }: Task): AttemptLease | undefined =>
  leaseNumber === NO_LEASE ? undefined : leases.at(leaseNumber)

/** The task of a lease in a worker's list. */
export const taskHeld = ({ leases }: WithLeases, { number }: HeldLease): Task | undefined => leases.at(number)?.task

/** The tasks that a worker holds, as a copy: the caller may end their leases. */
export function heldTasks(grid: WithLeases, { firstHeld }: HeldLeases): Task[] {
  const tasks: Task[] = []
  for (let lease = firstHeld; lease !== undefined; lease = lease.nextHeld) {
    const task = taskHeld(grid, lease)
    if (task !== undefined) tasks.push(task)
  }
  return tasks
}
