import type { GridState } from '../grid.ts'
import { type Amounts, bucketFloor } from '../model/amounts.ts'
import type { Instant } from '../model/events.ts'
import { LazyHeap } from '../shares/lazy-heap.ts'
import type { InstanceState } from '../shares/shares.ts'
import type { UsageLedger } from '../shares/usage-ledger.ts'
import type { Worker } from '../workers/worker.ts'
import type { WorkerClass } from '../workers/worker-class.ts'
import { InstanceQueue, joinInstanceQueue, leaveInstanceQueue } from './instance-queue.ts'
import type { RequirementGroup } from './requirement-group.ts'
import { StagedList } from './staged-list.ts'
import type { Task } from './task.ts'

/**
 * All lanes that the same classes of workers can serve, and that are of one size. A free slot looks at the few pools of
 * its class and never at the lanes, of which there may be ten thousand; what nothing can serve is in a pool that no
 * class looks at.
 */
export interface WorkerPool {
  key: string
  readonly bucket: number
  /** The least that a task of it asks for. */
  readonly floor: Amounts
  readonly classes: WorkerClass[]
  readonly groups: Set<RequirementGroup>
  readonly instanceQueues: Map<InstanceState, InstanceQueue>
  readonly order: LazyHeap<InstanceQueue>
  /** Waiting so long is worth one step of priority. */
  readonly agingMs: number
  /** By whom it was found to have something that may fit: the number of that search. */
  searched: number
  /** In its lines. */
  queued: number
  /** How many of them avoid a worker: that they found no slot says nothing of those that come after them. */
  avoiding: number
  /** Classes that have a worker which takes tasks. */
  live: number
  /** Since when nothing serves it. */
  unservedSince: Instant | undefined
  /** Tasks of it that wait on a worker, staged ahead of a free slot: oldest first. */
  readonly staged: StagedList
  /** Since when its next task has found free slots without room for it. */
  blockedSince: Instant | undefined
  lookedAfter: boolean
  /** A worker that takes nothing else until that task is on it. */
  kept: Worker | undefined
  /** Some that tasks of it asked for, to be shared by others that ask for the same. */
  readonly demands: Amounts[]
  /** Of the task that was queued last. */
  lastDemand: Amounts | undefined
}

class InstanceQueueHeap extends LazyHeap<InstanceQueue> {
  readonly #instanceQueues: Map<InstanceState, InstanceQueue>

  constructor(ledger: UsageLedger, instanceQueues: Map<InstanceState, InstanceQueue>) {
    super(ledger)
    this.#instanceQueues = instanceQueues
  }

  protected override dropped({ instance }: InstanceQueue): void {
    this.#instanceQueues.delete(instance)
  }
}

export function makeWorkerPool(grid: GridState, bucket: number, classes: readonly WorkerClass[]): WorkerPool {
  const { ledger, now } = grid
  const { agingMs } = grid.options
  const instanceQueues = new Map<InstanceState, InstanceQueue>()
  const live = classes.filter((one) => one.live > 0).length
  return {
    key: poolKey(bucket, classes),
    bucket,
    floor: bucketFloor(bucket),
    classes: [...classes],
    groups: new Set(),
    instanceQueues,
    order: new InstanceQueueHeap(ledger, instanceQueues),
    agingMs,
    searched: -1,
    queued: 0,
    avoiding: 0,
    live,
    unservedSince: live === 0 ? now : undefined,
    staged: new StagedList(),
    demands: [],
    blockedSince: undefined,
    lookedAfter: false,
    kept: undefined,
    lastDemand: undefined,
  }
}

export const poolKey = (bucket: number, classes: readonly WorkerClass[]): string =>
  `${bucket};${classes.map((one) => one.number).sort((one, other) => one - other)}`

export function joinPool(pool: WorkerPool, task: Task, front: boolean): void {
  let instanceQueue = pool.instanceQueues.get(task.instance)
  if (instanceQueue === undefined) {
    instanceQueue = new InstanceQueue(pool, task.instance)
    pool.instanceQueues.set(task.instance, instanceQueue)
  }
  joinInstanceQueue(instanceQueue, task, front)
  pool.queued++
  if (task.avoids.length > 0) pool.avoiding++
  pool.lastDemand = task.demand
  pool.order.add(instanceQueue)
}

export function leavePool(pool: WorkerPool, task: Task): void {
  if (task.invocationQueue === undefined) return
  leaveInstanceQueue(task)
  pool.queued--
  if (task.avoids.length > 0) pool.avoiding--
}
