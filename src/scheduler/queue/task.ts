import type { TaskState } from '../../model/task-state.ts'
import type { AttemptLease } from '../leases/lease.ts'
import type { Amounts } from '../model/amounts.ts'
import type { Instant, Waiter } from '../model/events.ts'
import type { InstanceState, InvocationState } from '../shares/shares.ts'
import type { AffinityInputs } from '../workers/affinity.ts'
import type { InvocationQueue } from './priority-level.ts'
import type { RequirementGroup } from './requirement-group.ts'

/** A task that is not finished. One object each, and few: there may be a million of them in the queue. */
export interface Task extends AffinityInputs {
  readonly id: string
  /** Its place in the table of all tasks, and what it is found by there; set by the table. */
  number: number
  idHash: number
  actionHash: number
  readonly instance: InstanceState
  readonly invocation: InvocationState
  readonly group: RequirementGroup
  readonly demand: Amounts
  priority: number
  state: TaskState
  readonly acceptedAt: Instant
  /** For the last time. */
  queuedAt: Instant
  readonly actionKey: string | undefined
  /** Whether identical tasks are merged with this one. */
  merges: boolean
  readonly timeoutMs: number | undefined
  readonly estimateMs: number | undefined
  readonly interactive: boolean
  readonly maxRetries: number
  /** One is the rule. */
  waiters: Waiter | Set<Waiter> | undefined
  faults: number
  lostWorkers: readonly string[]
  /** Workers on which an attempt at it came to nothing: it goes to another one if there is any. */
  avoids: readonly string[]
  attempt: number
  /** How often a worker handed it back. */
  yields: number
  /** How often a task behind it was taken first, for what a worker had already. */
  passedOver: number
  /** In its lane, but in no line: no worker that is there could ever hold it. */
  parked: boolean
  lease: AttemptLease | undefined
  /** Where it stands while it is queued, by links of its own: joining and leaving a line allocates nothing. */
  invocationQueue: InvocationQueue | undefined
  queueNext: Task | undefined
  queuePrevious: Task | undefined
  groupNext: Task | undefined
  groupPrevious: Task | undefined
  inGroup: boolean
}
