import type { Grid } from '../grid.ts'
import { type Amounts, within } from '../model/amounts.ts'
import { isHopeless, park } from '../queue/enqueue.ts'
import type { Line } from '../queue/instance-queue.ts'
import type { LineTable } from '../queue/instance-queue-table.ts'
import { noteBlocked } from '../queue/kept-workers.ts'
import type { Level } from '../queue/priority-level.ts'
import type { Task } from '../queue/task.ts'
import type { Pool } from '../queue/worker-pool.ts'
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
export function headOwed(grid: Grid, worker: Worker): Task | undefined {
  if (grid.reservers.length === 0) return undefined
  for (const { lines } of owedInstances(grid)) {
    const task = bestLevel(lines, markPools(grid, worker, worker.free))?.first()?.head
    if (task !== undefined && within(task.demand, worker.free)) return task
  }
  return undefined
}

/** Of all heads that the worker can serve, that of the instance which was served least. */
export function pickHead(grid: Grid, worker: Worker, room: Amounts): Task | undefined {
  const likely = headOfLeastServed(grid, worker, room)
  if (likely !== undefined) return preferWarm(worker, { task: likely, room })
  let passed: Set<Pool> | undefined
  for (;;) {
    const line = leastServed(grid, worker, { room, passed })
    if (line === undefined) return undefined
    const task = headOf(line)
    if (task !== undefined && within(task.demand, room)) {
      if (room === worker.free) line.pool.blockedSince = undefined
      return preferWarm(worker, { task, room })
    }
    if (task !== undefined && isHopeless(task)) {
      park(grid, task)
      continue
    }
    const other = otherHead(grid, line.pool, room)
    if (other !== undefined) return other
    noteBlocked(grid, line.pool)
    passed = (passed ?? new Set()).add(line.pool)
  }
}

/**
 * Mostly the instance that was served least of all has something for the worker. Then no other has to be looked at, and
 * the orders of the pools need not be brought up to date.
 */
function headOfLeastServed(grid: Grid, worker: Worker, room: Amounts): Task | undefined {
  const instance = grid.order.first()
  if (instance === undefined) return undefined
  const level = bestLevel(instance.lines, markPools(grid, worker, room))
  const task = level?.first()?.head
  if (task === undefined || !within(task.demand, room)) return undefined
  if (room === worker.free) task.lane.pool.blockedSince = undefined
  return task
}

/** Marks the pools that may have something for so much room, from the number that it answers on. */
function markPools(grid: Grid, { class: { pools } }: Worker, room: Amounts): number {
  const from = grid.searches
  grid.searches += pools.length
  for (let i = 0; i < pools.length; i++) {
    const pool = pools[i] as Pool
    if (pool.queued === 0) continue
    if (within(pool.floor, room)) pool.searched = from + i
    else if (pool.blockedSince === undefined) noteBlocked(grid, pool)
  }
  return from
}

/** Of the lines in marked pools, the level that is next by priority and age. */
function bestLevel({ ranks, pools, levels }: LineTable, from: number): Level | undefined {
  let best = -1
  let bestRank = Number.POSITIVE_INFINITY
  let bestPool = 0
  for (let i = 0; i < ranks.length; i++) {
    const rank = ranks[i] as number
    if (rank > bestRank) continue
    const { searched } = pools[i] as Pool
    if (searched < from || (rank === bestRank && searched > bestPool)) continue
    best = i
    bestRank = rank
    bestPool = searched
  }
  return best < 0 ? undefined : levels[best]
}

interface Search {
  readonly room: Amounts
  readonly passed: ReadonlySet<Pool> | undefined
}

function leastServed(grid: Grid, worker: Worker, { room, passed }: Search): Line | undefined {
  let best: Line | undefined
  let bestRank = 0
  for (const pool of worker.class.pools) {
    if (pool.queued === 0 || passed?.has(pool)) continue
    if (!within(pool.floor, room)) {
      if (pool.blockedSince === undefined) noteBlocked(grid, pool)
      continue
    }
    const line = pool.order.first()
    if (line === undefined) continue
    const ahead = best === undefined ? -1 : servedOf(line.instance) - servedOf(best.instance)
    if (ahead > 0) continue
    // The same instance, mostly: then it is a matter of priority and age.
    const rank = line.next?.rank ?? 0
    if (ahead === 0 && rank >= bestRank) continue
    best = line
    bestRank = rank
  }
  return best
}

export const headOf = (line: Line): Task | undefined => line.next?.first()?.head

/** The first one's task does not fit, but that of another instance may: a free slot is not left empty for it yet. */
function otherHead(grid: Grid, pool: Pool, room: Amounts): Task | undefined {
  for (const line of pool.order.leading(OTHER_LINES)) {
    const task = headOf(line)
    if (task !== undefined && within(task.demand, room)) {
      noteBlocked(grid, pool)
      return task
    }
  }
  return undefined
}

/** The first, or one close behind it in the same invocation whose inputs the worker has; not for ever. */
function preferWarm(worker: Worker, { task, room }: { task: Task; room: Amounts }): Task {
  if (task.input1 === undefined || task.passedOver >= MOST_PASSED_OVER) return task
  let next: Task | undefined = task
  for (let i = 0; i < LOOK_AHEAD && next !== undefined; i++, next = next.strandNext) {
    if (!hasInputs(next, worker) || !within(next.demand, room)) continue
    if (next !== task) task.passedOver++
    return next
  }
  return task
}
