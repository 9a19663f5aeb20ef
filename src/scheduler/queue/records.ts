import type { TaskState } from '../../model/task-state.ts'
import type { Instant, Waiter } from '../model/events.ts'
import type { Amounts, Requirements } from '../model/requirements.ts'
import type { LazyHeap } from '../shares/lazy-heap.ts'
import type { Heaped, InstanceAccount, InvocationState } from '../shares/usage-accounts.ts'
import type { AffinityInputs } from '../workers/affinity.ts'
import type { Worker, WorkerClass } from '../workers/records.ts'
import type { Placed, StagedList } from './staged-list.ts'

/*
 * The records of the queue. They refer to each other, so they share a file. `tables.ts` finds tasks and groups,
 * `matchmaking.ts` makes groups and pools, and `enqueue.ts` adds a task to all of these lists.
 *
 *   RequirementGroup ──▶ WorkerPool ──▶ InstanceQueue ──▶ PriorityLevel ──▶ InvocationQueue ──▶ Task
 *   (same requirements)  (same workers)  (one instance)    (one priority)    (one invocation, first in first out)
 *
 * A task waits in two lists: in the list of its requirement group, by arrival, for the time-out when no worker fits; and in
 * an invocation queue of the pool, for its turn. The instance with the least usage is next; within it the priority level
 * that wins by priority and age; within that the invocation with the least usage.
 */

/** A task that is not finished. One object with few fields, since a million of them may be queued. */
export interface Task extends AffinityInputs {
  readonly id: string
  /** Its index and its hashes in the table of tasks; set by the table. */
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
  /** When it was queued last; while it waits for a retry, when the retry is due. */
  queuedAt: Instant
  readonly actionKey: string | undefined
  /** Whether identical tasks are merged with this one. */
  merges: boolean
  readonly timeoutMs: number | undefined
  readonly estimateMs: number | undefined
  readonly interactive: boolean
  readonly maxRetries: number
  /** A set only if there are several waiters. */
  waiters: Waiter | Set<Waiter> | undefined
  faults: number
  lostWorkers: readonly string[]
  /** Workers on which an attempt failed: other workers are preferred. */
  avoids: readonly string[]
  attempt: number
  /** How often a worker returned it. */
  yields: number
  /** How often a worker took a later task instead, because it had the inputs of that task. */
  passedOver: number
  /** In its group, but in no queue: no registered worker is large enough for it. */
  parked: boolean
  /** The number of its lease in the table of leases; `NO_LEASE` without one. */
  leaseNumber: number
  /** Its position in the queue and in the group, as list links: queueing a task allocates nothing. */
  invocationQueue: InvocationQueue | undefined
  queueNext: Task | undefined
  queuePrevious: Task | undefined
  groupNext: Task | undefined
  groupPrevious: Task | undefined
  inGroup: boolean
}

export const NO_LEASE = -1

/** Queued tasks with the same properties and the same demand to within a power of two, in order of arrival. */
export interface RequirementGroup extends Requirements {
  /** Its index in the table of groups; set by the table. */
  number: number
  pool: WorkerPool
  head: Task | undefined
  tail: Task | undefined
  queued: number
  active: number
  /** Queued, active, or waiting for a retry. */
  unfinished: number
  /** The queued tasks for which no registered worker is large enough. */
  parked: number
  /** The learned duration of its tasks. */
  estimateMs: number
  /** When its timer is due. */
  lookAt: Instant
  /** How long a task waits for a worker that fits before it fails. */
  readonly graceMs: number
}

/**
 * Requirement groups of one size that the same classes of workers can serve. A free slot searches the few pools of its
 * class and never the groups, of which there may be ten thousand. Groups that no class can serve are in a pool that no
 * class searches.
 */
export interface WorkerPool {
  key: string
  readonly bucket: number
  /** The minimum that each of its tasks demands. */
  readonly floor: Amounts
  readonly classes: WorkerClass[]
  readonly groups: Set<RequirementGroup>
  readonly instanceQueues: Map<InstanceState, InstanceQueue>
  readonly order: LazyHeap<InstanceQueue>
  /** Waiting this long is worth one step of priority. */
  readonly agingMs: number
  /** The number of the last search that found that the pool may have a task that fits. */
  searched: number
  /** Tasks in its queues. */
  queued: number
  /** Queued tasks that avoid a worker. Later tasks may find a slot where these found none. */
  avoiding: number
  /** The number of classes with a live worker. */
  live: number
  /** When its last live worker left; undefined while it has one. */
  unservedSince: Instant | undefined
  /** Its tasks that are staged on a worker, oldest first. */
  readonly staged: StagedList<StagedLease>
  /** When its next task first found free slots without enough space for it. */
  blockedSince: Instant | undefined
  /** Whether a timer is set to review the block. */
  lookedAfter: boolean
  /** A worker that accepts no task but the next one of this pool. */
  kept: Worker | undefined
  /** Recent demands; equal demands share one object. */
  readonly demands: Amounts[]
  /** The demand of the task that was queued last. */
  lastDemand: Amounts | undefined
}

/** A lease in the list of staged tasks of a pool. */
export interface StagedLease extends Placed<StagedLease> {
  readonly task: Task | undefined
}

/** The tasks of one instance in one pool. */
export interface InstanceQueue extends Heaped {
  readonly pool: WorkerPool
  readonly instance: InstanceState
  /** The level that is served next; undefined when nothing waits. */
  next: PriorityLevel | undefined
  queued: number
  /** Its index in the table of its instance; −1 when nothing waits. */
  at: number
  readonly levels: PriorityLevel[]
  /** The rank of each level, in the order of `levels`: comparing ranks does not load the levels. */
  readonly ranks: number[]
}

/** The tasks of one priority in an instance queue. */
export interface PriorityLevel {
  readonly instanceQueue: InstanceQueue
  readonly priority: number
  readonly order: LazyHeap<InvocationQueue>
  queued: number
  /** When the task that left last was accepted; before that, when the first task was accepted. */
  since: Instant
  /** Set only while there are many queues. */
  byInvocation: Map<InvocationState, InvocationQueue> | undefined
}

/** The tasks of one invocation in a priority level, first in first out. */
export interface InvocationQueue extends Heaped {
  readonly level: PriorityLevel
  readonly invocation: InvocationState
  head: Task | undefined
  tail: Task | undefined
}

export interface InstanceState extends InstanceAccount {
  readonly queues: InstanceQueueTable
}

/**
 * For each non-empty queue of one instance, its pool, its next level and the rank of that level. The ranks lie side by
 * side: the search for the best one loads no other record, although the instance may have a queue in every pool.
 */
export interface InstanceQueueTable {
  readonly ranks: number[]
  readonly pools: WorkerPool[]
  readonly levels: PriorityLevel[]
}
