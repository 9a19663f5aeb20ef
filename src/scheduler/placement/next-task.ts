import type { GridState } from '../grid.ts'
import { type Amounts, fitsWithin } from '../model/amounts.ts'
import { fitsNoWorker, park } from '../queue/enqueue.ts'
import type { InstanceQueue } from '../queue/instance-queue.ts'
import type { InstanceQueueTable } from '../queue/instance-queue-table.ts'
import { notePoolBlocked } from '../queue/kept-workers.ts'
import type { PriorityLevel } from '../queue/priority-level.ts'
import type { Task } from '../queue/task.ts'
import type { WorkerPool } from '../queue/worker-pool.ts'
import { servedOf } from '../shares/shares.ts'
import { hasInputs } from '../workers/affinity.ts'
import type { Worker } from '../workers/worker.ts'
import { owedInstances } from './reserved-slots.ts'

/** How far down a worker looks for a task whose inputs it has. */
const LOOK_AHEAD = 4
/** How often the first may be passed over for that. */
const MOST_PASSED_OVER = 8
/** How many instances are looked at when the first one's task does not fit. */
const OTHER_LINES = 4

/** Of an instance that waits for a slot of its own. */
export function headOwedSlot(grid: GridState, worker: Worker): Task | undefined {
  if (grid.reservers.length === 0) return undefined
  for (const { instanceQueues } of owedInstances(grid)) {
    const task = bestLevel(instanceQueues, markPools(grid, worker, worker.free))?.first()?.head
    if (task !== undefined && fitsWithin(task.demand, worker.free)) return task
  }
  return undefined
}

/** Of all heads that the worker can serve, that of the instance which was served least. */
export function pickHead(grid: GridState, worker: Worker, space: Amounts): Task | undefined {
  const likely = headOfLeastServed(grid, worker, space)
  if (likely !== undefined) return preferWarm(worker, { task: likely, space })
  let passed: Set<WorkerPool> | undefined
  for (;;) {
    const instanceQueue = leastServed(grid, worker, { space, passed })
    if (instanceQueue === undefined) return undefined
    const task = headOf(instanceQueue)
    if (task !== undefined && fitsWithin(task.demand, space)) {
      if (space === worker.free) instanceQueue.pool.blockedSince = undefined
      return preferWarm(worker, { task, space })
    }
    if (task !== undefined && fitsNoWorker(task)) {
      park(grid, task)
      continue
    }
    const other = otherHead(grid, instanceQueue.pool, space)
    if (other !== undefined) return other
    notePoolBlocked(grid, instanceQueue.pool)
    passed = (passed ?? new Set()).add(instanceQueue.pool)
  }
}

/**
 * Mostly the instance that was served least of all has something for the worker. Then no other has to be looked at, and
 * the orders of the pools need not be brought up to date.
 */
function headOfLeastServed(grid: GridState, worker: Worker, space: Amounts): Task | undefined {
  const instance = grid.order.first()
  if (instance === undefined) return undefined
  const level = bestLevel(instance.instanceQueues, markPools(grid, worker, space))
  const task = level?.first()?.head
  if (task === undefined || !fitsWithin(task.demand, space)) return undefined
  if (space === worker.free) task.group.pool.blockedSince = undefined
  return task
}

/** Marks the pools that may have something for so much room, from the number that it answers on. */
function markPools(grid: GridState, { class: { pools } }: Worker, space: Amounts): number {
  const from = grid.searches
  grid.searches += pools.length
  for (let i = 0; i < pools.length; i++) {
    const pool = pools[i] as WorkerPool
    if (pool.queued === 0) continue
    if (fitsWithin(pool.floor, space)) pool.searched = from + i
    else if (pool.blockedSince === undefined) notePoolBlocked(grid, pool)
  }
  return from
}

/** Of the lines in marked pools, the level that is next by priority and age. */
function bestLevel({ ranks, pools, levels }: InstanceQueueTable, from: number): PriorityLevel | undefined {
  let best = -1
  let bestRank = Number.POSITIVE_INFINITY
  let bestPool = 0
  for (let i = 0; i < ranks.length; i++) {
    const rank = ranks[i] as number
    if (rank > bestRank) continue
    const { searched } = pools[i] as WorkerPool
    if (searched < from || (rank === bestRank && searched > bestPool)) continue
    best = i
    bestRank = rank
    bestPool = searched
  }
  return best < 0 ? undefined : levels[best]
}

interface Search {
  readonly space: Amounts
  readonly passed: ReadonlySet<WorkerPool> | undefined
}

function leastServed(grid: GridState, worker: Worker, { space, passed }: Search): InstanceQueue | undefined {
  let best: InstanceQueue | undefined
  let bestRank = 0
  for (const pool of worker.class.pools) {
    if (pool.queued === 0 || passed?.has(pool)) continue
    if (!fitsWithin(pool.floor, space)) {
      if (pool.blockedSince === undefined) notePoolBlocked(grid, pool)
      continue
    }
    const instanceQueue = pool.order.first()
    if (instanceQueue === undefined) continue
    const ahead = best === undefined ? -1 : servedOf(instanceQueue.instance) - servedOf(best.instance)
    if (ahead > 0) continue
    // The same instance, mostly: then it is a matter of priority and age.
    const rank = instanceQueue.next?.rank ?? 0
    if (ahead === 0 && rank >= bestRank) continue
    best = instanceQueue
    bestRank = rank
  }
  return best
}

export const headOf = (instanceQueue: InstanceQueue): Task | undefined => instanceQueue.next?.first()?.head

/** The first one's task does not fit, but that of another instance may: a free slot is not left empty for it yet. */
function otherHead(grid: GridState, pool: WorkerPool, space: Amounts): Task | undefined {
  for (const instanceQueue of pool.order.leading(OTHER_LINES)) {
    const task = headOf(instanceQueue)
    if (task !== undefined && fitsWithin(task.demand, space)) {
      notePoolBlocked(grid, pool)
      return task
    }
  }
  return undefined
}

/** The first, or one close behind it in the same invocation whose inputs the worker has; not for ever. */
function preferWarm(worker: Worker, { task, space }: { task: Task; space: Amounts }): Task {
  if (task.input1 === undefined || task.passedOver >= MOST_PASSED_OVER) return task
  let next: Task | undefined = task
  for (let i = 0; i < LOOK_AHEAD && next !== undefined; i++, next = next.queueNext) {
    if (!hasInputs(next, worker) || !fitsWithin(next.demand, space)) continue
    if (next !== task) task.passedOver++
    return next
  }
  return task
}
