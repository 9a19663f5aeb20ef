import type { InstanceName } from '../../model/instance-name.ts'
import type { Instant } from '../model/events.ts'
import type { LazyHeap } from '../shares/lazy-heap.ts'
import type { UsageLedger } from '../shares/usage-accounts.ts'
import type { Worker, WorkerClass } from '../workers/records.ts'
import type { TimerSink, WorkerDue, WorkersState } from '../workers/worker.ts'
import type { InstanceState, RequirementGroup, Task, WorkerPool } from './records.ts'
import type { RequirementGroupTable, TaskTable } from './tables.ts'

export type QueueDue =
  | { readonly look: 'group'; readonly group: RequirementGroup }
  | { readonly look: 'pool'; readonly pool: WorkerPool }

/** The scheduler's state that concerns tasks and queues, and the workers that they are queued for. */
export interface QueueState extends WorkersState {
  readonly tasks: TaskTable
  readonly instances: Map<InstanceName, InstanceState>
  readonly groups: RequirementGroupTable
  readonly pools: Map<string, WorkerPool>
  /** The pools that each class of workers can serve. */
  readonly poolsOf: Map<WorkerClass, WorkerPool[]>
  /** The pool that each kept worker is reserved for. */
  readonly keptFor: Map<Worker, WorkerPool>
  /** At these sizes, unused groups and instances are dropped. */
  readonly sweepAt: { groups: number; instances: number }
  readonly ledger: UsageLedger
  /** All instances with queued tasks, the least usage first. */
  readonly order: LazyHeap<InstanceState>
  /** Tasks that the current event queued and that have not been placed yet. */
  readonly toPlace: Task[]
  /** The highest of the classes' clocks. */
  clock: number
  /** The recent rate of finished tasks, per millisecond. */
  drain: { rate: number; at: Instant }
  readonly timers: TimerSink<WorkerDue | QueueDue>
}

/**
 * Clients can name any number of instances and properties, so unused ones are dropped at these numbers. Ten thousand
 * groups in a few sizes are normal: dropping those would only mean to build them again.
 */
export const FEWEST_SWEPT = { groups: 65_536, instances: 4096 }

const NO_POOLS: readonly WorkerPool[] = []

export const poolsServedBy = (grid: QueueState, workers: WorkerClass): readonly WorkerPool[] =>
  grid.poolsOf.get(workers) ?? NO_POOLS
