import { TASK_STATES } from '../model/task-state.ts'
import { WORKER_STATES } from '../model/worker-state.ts'
import { KeyedHeap } from './keyed-heap.ts'
import type { LeaseDue } from './leases/lease-state.ts'
import { LeaseTable } from './leases/lease-table.ts'
import { reserversIn, type SchedulerOptions } from './model/options.ts'
import type { PlacementState } from './placement/placement-state.ts'
import { FEWEST_SWEPT, type QueueDue } from './queue/queue-state.ts'
import type { InstanceState } from './queue/records.ts'
import { RequirementGroupTable } from './queue/requirement-group-table.ts'
import { TaskTable } from './queue/task-table.ts'
import { type HeapRules, LazyHeap } from './shares/lazy-heap.ts'
import { UsageLedger } from './shares/usage-ledger.ts'
import { makeAffinity } from './workers/affinity.ts'
import { GaugeTable } from './workers/gauges.ts'
import type { WorkerDue } from './workers/workers-state.ts'

export type Due = WorkerDue | QueueDue | LeaseDue

/** The whole state of the scheduler. Each layer declares its part: workers, queue, leases, placement. */
export interface GridState extends PlacementState {
  readonly timers: KeyedHeap<Due>
}

const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>

const WAITING_INSTANCES: HeapRules<InstanceState> = { isEmpty: ({ queued }) => queued === 0 }

export function makeGridState(options: SchedulerOptions): GridState {
  const ledger = new UsageLedger()
  const seed = Math.floor(options.random() * 2 ** 32)
  return {
    options,
    reservers: reserversIn(options),
    now: options.startedAt,
    effects: [],
    tasks: new TaskTable(seed),
    workers: new Map(),
    instances: new Map(),
    groups: new RequirementGroupTable(seed),
    classes: new Map(),
    pools: new Map(),
    poolsOf: new Map(),
    keptFor: new Map(),
    sweepAt: { ...FEWEST_SWEPT },
    idleClasses: new Set(),
    namesOffered: new Set(options.namesOffered),
    affinity: makeAffinity(),
    ledger,
    leases: new LeaseTable(),
    gauges: new GaugeTable(),
    order: new LazyHeap(ledger, WAITING_INSTANCES),
    timers: new KeyedHeap(),
    toPlace: [],
    freed: [],
    taskCounts: zeros(TASK_STATES),
    workerCounts: zeros(WORKER_STATES),
    awaited: new Map(),
    answered: [],
    leasesGranted: 0,
    preloaded: 0,
    searches: 0,
    classesMade: 0,
    openWorkers: 0,
    anyRegistered: false,
    clock: 0,
    drain: { rate: 0, at: options.startedAt },
  }
}
