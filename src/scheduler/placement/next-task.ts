import { type Amounts, fitsWithin } from '../model/requirements.ts'
import { fitsNoWorker, park } from '../queue/enqueue.ts'
import { notePoolBlocked } from '../queue/kept-workers.ts'
import { rankOf } from '../queue/priority-level.ts'
import { poolsServedBy } from '../queue/queue-state.ts'
import type { InstanceQueue, InstanceQueueTable, PriorityLevel, Task, WorkerPool } from '../queue/records.ts'
import { accountUsage } from '../shares/usage-accounts.ts'
import { hasInputs } from '../workers/affinity.ts'
import type { Worker } from '../workers/records.ts'
import { owedInstances, type PlacementState } from './reserved-slots.ts'

/** How many tasks of an invocation are searched for one whose inputs the worker has. */
const LOOK_AHEAD = 4
/** How often the first task may be passed over for such a task. */
const MOST_PASSED_OVER = 8
/** How many instances of a pool are tried when the next task does not fit. */
const OTHER_QUEUES = 4

/** The next task of an instance that lacks some of its reserved slots. */
export function headOwedSlot(grid: PlacementState, worker: Worker): Task | undefined {
  if (grid.reservers.length === 0) return undefined
  for (const { queues } of owedInstances(grid)) {
    const task = bestLevel(queues, markPools(grid, worker, worker.free))?.order.first()?.head
    if (task !== undefined && fitsWithin(task.demand, worker.free)) return task
  }
  return undefined
}

/** The next task for the worker: of the queues that it can serve, the head of the instance with the least usage. */
export function pickHead(grid: PlacementState, worker: Worker, space: Amounts): Task | undefined {
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
 * Usually the instance with the least usage of all has a task for the worker. Then no other instance has to be
 * searched, and the heaps of the pools need no update.
 */
function headOfLeastServed(grid: PlacementState, worker: Worker, space: Amounts): Task | undefined {
  const instance = grid.order.first()
  if (instance === undefined) return undefined
  const level = bestLevel(instance.queues, markPools(grid, worker, space))
  const task = level?.order.first()?.head
  if (task === undefined || !fitsWithin(task.demand, space)) return undefined
  if (space === worker.free) task.group.pool.blockedSince = undefined
  return task
}

/** Marks the pools that may have a task for this space with numbers from the returned number on. */
function markPools(grid: PlacementState, worker: Worker, space: Amounts): number {
  const pools = poolsServedBy(grid, worker.class)
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

/** The next level by priority and age, among the queues in marked pools. */
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

function leastServed(grid: PlacementState, worker: Worker, { space, passed }: Search): InstanceQueue | undefined {
  let best: InstanceQueue | undefined
  let bestRank = 0
  for (const pool of poolsServedBy(grid, worker.class)) {
    if (pool.queued === 0 || passed?.has(pool)) continue
    if (!fitsWithin(pool.floor, space)) {
      if (pool.blockedSince === undefined) notePoolBlocked(grid, pool)
      continue
    }
    const instanceQueue = pool.order.first()
    if (instanceQueue === undefined) continue
    const ahead = best === undefined ? -1 : accountUsage(instanceQueue.instance) - accountUsage(best.instance)
    if (ahead > 0) continue
    // Usually the same instance: then priority and age decide.
    const { next } = instanceQueue
    const rank = next === undefined ? 0 : rankOf(next)
    if (ahead === 0 && rank >= bestRank) continue
    best = instanceQueue
    bestRank = rank
  }
  return best
}

export const headOf = (instanceQueue: InstanceQueue): Task | undefined => instanceQueue.next?.order.first()?.head

/** The next task does not fit, but that of another instance may: a slot stays empty only for a kept worker. */
function otherHead(grid: PlacementState, pool: WorkerPool, space: Amounts): Task | undefined {
  for (const instanceQueue of pool.order.leading(OTHER_QUEUES)) {
    const task = headOf(instanceQueue)
    if (task !== undefined && fitsWithin(task.demand, space)) {
      notePoolBlocked(grid, pool)
      return task
    }
  }
  return undefined
}

/** The first task, or one of the next tasks of its invocation if the worker has the inputs of that task. */
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
