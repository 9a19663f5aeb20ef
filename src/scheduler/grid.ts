import { WORKER_STATES, type WorkerState } from '../model/worker-state.ts'
import { KeyedHeap } from './keyed-heap.ts'
import { type LeaseDue, LeaseTable } from './leases/lease-table.ts'
import { reserversIn, type SchedulerOptions } from './model/options.ts'
import type { PlacementState } from './placement/reserved-slots.ts'
import { FEWEST_SWEPT, type QueueDue } from './queue/queue-state.ts'
import type { InstanceState } from './queue/records.ts'
import { RequirementGroupTable, TaskTable } from './queue/tables.ts'
import { type HeapRules, LazyHeap } from './shares/lazy-heap.ts'
import { UsageLedger } from './shares/usage-accounts.ts'
import { makeAffinity } from './workers/affinity.ts'
import { GaugeTable } from './workers/gauges.ts'
import type { WorkerDue } from './workers/worker.ts'

export type Due = WorkerDue | QueueDue | LeaseDue

/** The whole state of the scheduler. Each layer declares its part: workers, queue, leases, placement. */
export interface GridState extends PlacementState {
  readonly timers: KeyedHeap<Due>
}

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
    workerCounts: Object.fromEntries(WORKER_STATES.map((state) => [state, 0])) as Record<WorkerState, number>,
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
