import type { InstanceName } from '../model/instance-name.ts'
import { TASK_STATES, type TaskState } from '../model/task-state.ts'
import { WORKER_STATES, type WorkerState } from '../model/worker-state.ts'
import { KeyedHeap } from './keyed-heap.ts'
import { LeaseTable } from './leases/lease.ts'
import type { Effect } from './model/effects.ts'
import type { Instant } from './model/events.ts'
import { type Reserver, reserversIn, type SchedulerOptions } from './model/options.ts'
import { TASK_MOVES, type TaskMove } from './model/task-machine.ts'
import { WORKER_MOVES, type WorkerMove } from './model/worker-machine.ts'
import type { RequirementGroup } from './queue/requirement-group.ts'
import { RequirementGroupTable } from './queue/requirement-group-table.ts'
import type { Task } from './queue/task.ts'
import { TaskTable } from './queue/task-table.ts'
import type { WorkerPool } from './queue/worker-pool.ts'
import { LazyHeap } from './shares/lazy-heap.ts'
import { type InstanceState, makeInstanceState } from './shares/shares.ts'
import { UsageLedger } from './shares/usage-ledger.ts'
import { type Affinity, makeAffinity } from './workers/affinity.ts'
import { GaugeTable } from './workers/gauges.ts'
import type { Worker } from './workers/worker.ts'
import type { WorkerClass } from './workers/worker-class.ts'

/**
 * What is to be looked at when its time comes. Nothing is taken out again: who looks sees whether it still matters, so
 * that renewing a lease costs nothing here.
 */
export type Due =
  | { readonly look: 'group'; readonly group: RequirementGroup }
  | { readonly look: 'pool'; readonly pool: WorkerPool }
  | { readonly look: 'worker'; readonly worker: Worker }
  | { readonly look: 'retry'; readonly task: Task }
  | { readonly look: 'awaited'; readonly workerId: string }

/** Everything that the scheduler knows. The files around it are what can be done with it. */
export interface GridState {
  readonly options: SchedulerOptions
  readonly reservers: readonly Reserver[]
  now: Instant
  effects: Effect[]
  readonly tasks: TaskTable
  readonly workers: Map<string, Worker>
  readonly instances: Map<InstanceName, InstanceState>
  readonly groups: RequirementGroupTable
  readonly classes: Map<string, WorkerClass>
  readonly pools: Map<string, WorkerPool>
  /** At how many of them those that nobody needs are forgotten. */
  readonly sweepAt: { groups: number; instances: number }
  readonly idleClasses: Set<WorkerClass>
  readonly namesOffered: Set<string>
  readonly affinity: Affinity
  readonly ledger: UsageLedger
  readonly leaseTable: LeaseTable
  readonly gauges: GaugeTable
  /** All instances that have something waiting, whoever could serve it. */
  readonly order: LazyHeap<InstanceState>
  readonly timers: KeyedHeap<Due>
  /** Queued by this event, and not yet offered to anybody. */
  readonly toPlace: Task[]
  /** Workers that this event gave room, and that were not yet offered anything. */
  readonly freed: Worker[]
  readonly taskCounts: Record<TaskState, number>
  readonly workerCounts: Record<WorkerState, number>
  /** Leases that wait for a worker of before the restart, by its id. */
  readonly awaited: Map<string, Set<Task>>
  /** Pulling workers that were given something: their question is answered. */
  readonly answered: Worker[]
  leases: number
  /** Means nothing: see there. */
  fetched: number
  /** How many pools were looked at for something that may fit: numbers the searches. */
  searches: number
  classesMade: number
  openWorkers: number
  keptWorkers: number
  anyRegistered: boolean
  /** The furthest of all the classes' clocks. */
  clock: number
  /** Tasks that ended in a millisecond, lately. */
  drain: { rate: number; at: Instant }
}

/**
 * Clients name instances and properties without end; what they named is kept for as long as it is not too much. Ten
 * thousand signatures in a few sizes are not: these would only be made again, with all that is worked out for them.
 */
export const FEWEST_SWEPT = { groups: 65_536, instances: 4096 }

const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>

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
    sweepAt: { ...FEWEST_SWEPT },
    idleClasses: new Set(),
    namesOffered: new Set(options.namesOffered),
    affinity: makeAffinity(),
    ledger,
    leaseTable: new LeaseTable(),
    gauges: new GaugeTable(),
    order: new LazyHeap(ledger),
    timers: new KeyedHeap(),
    toPlace: [],
    freed: [],
    taskCounts: zeros(TASK_STATES),
    workerCounts: zeros(WORKER_STATES),
    awaited: new Map(),
    answered: [],
    leases: 0,
    fetched: 0,
    searches: 0,
    classesMade: 0,
    openWorkers: 0,
    keptWorkers: 0,
    anyRegistered: false,
    clock: 0,
    drain: { rate: 0, at: options.startedAt },
  }
}

/** Takes a task along one arrow of its table. */
export function moveTask(grid: GridState, task: Task, move: TaskMove): void {
  const next = TASK_MOVES[task.state][move]
  if (next === undefined) throw new Error(`a task that is ${task.state} cannot ${move}`)
  grid.taskCounts[task.state]--
  grid.taskCounts[next]++
  task.state = next
}

/** Takes a worker along one arrow of its table, and says so. */
export function moveWorker(grid: GridState, worker: Worker, { move, what }: { move: WorkerMove; what: string }): void {
  const next = WORKER_MOVES[worker.state][move]
  if (next === undefined) throw new Error(`a worker that is ${worker.state} cannot ${move}`)
  grid.workerCounts[worker.state]--
  grid.workerCounts[next]++
  worker.state = next
  grid.effects.push({ kind: 'worker', worker: worker.id, state: next, what })
}

export function instanceOf(grid: GridState, name: InstanceName): InstanceState {
  const known = grid.instances.get(name)
  if (known !== undefined) return known
  if (grid.instances.size >= grid.sweepAt.instances) sweepInstances(grid)
  const limits = Object.hasOwn(grid.options.limitsOf, name) ? grid.options.limitsOf[name] : undefined
  const made = makeInstanceState(grid.ledger, name, { ...grid.options.limits, ...limits })
  grid.instances.set(name, made)
  return made
}

function sweepInstances({ instances, sweepAt, ledger }: GridState): void {
  for (const one of instances.values()) {
    if (one.unfinished > 0) continue
    instances.delete(one.name)
    ledger.close(one.number)
  }
  sweepAt.instances = Math.max(FEWEST_SWEPT.instances, 2 * instances.size)
}

/** The worker has room, or is otherwise to be looked at when the event is over. */
export function freeWorker(grid: GridState, worker: Worker): void {
  if (worker.freed) return
  worker.freed = true
  grid.freed.push(worker)
}

/** Waiting for a worker, or for the next try. */
export const waitingTasks = ({ taskCounts }: GridState): number => taskCounts.queued + taskCounts.retrying
