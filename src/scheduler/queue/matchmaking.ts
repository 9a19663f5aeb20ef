import { FEWEST_SWEPT, type Grid } from '../grid.ts'
import { type Amounts, bucketFloor, sameAmounts } from '../model/amounts.ts'
import { classKey, makeClass, type Offer, serves, type WorkerClass } from '../workers/worker-class.ts'
import { graceFor } from './no-worker-grace.ts'
import { type Ask, type Lane, makeLane, wantsOf } from './requirement-group.ts'
import type { Task } from './task.ts'
import { joinPool, leavePool, makePool, type Pool, poolKey } from './worker-pool.ts'

/**
 * Which lanes can be served by which classes. It is worked out once when a lane or a class is new. Lanes with the same
 * answer share a pool, and a new class parts the pools that hold both lanes that it serves and lanes that it does not;
 * of the two parts the one with fewer tasks moves.
 */
const MOST_IDLE_CLASSES = 256

export function laneFor(grid: Grid, ask: Ask): Lane {
  const wants = wantsOf(ask)
  const known = grid.lanes.get(wants)
  if (known !== undefined) return known
  if (grid.lanes.size >= grid.sweepAt.lanes) sweepLanes(grid)
  const least = bucketFloor(wants.bucket)
  const classes = [...grid.classes.values()].filter((one) => serves(one, wants, least))
  const pool = grid.pools.get(poolKey(wants.bucket, classes)) ?? addPool(grid, wants.bucket, classes)
  const lane = makeLane(wants, pool, graceFor(grid.options, wants.properties))
  pool.lanes.add(lane)
  grid.lanes.add(lane)
  return lane
}

/** Forgets the lanes that are empty: what clients may ask for has no end. */
function sweepLanes(grid: Grid): void {
  for (const lane of grid.lanes.values()) {
    if (lane.unfinished > 0) continue
    grid.lanes.delete(lane)
    lane.pool.lanes.delete(lane)
    dropIfEmpty(grid, lane.pool)
  }
  grid.sweepAt.lanes = Math.max(FEWEST_SWEPT.lanes, 2 * grid.lanes.size)
}

export function classFor(grid: Grid, offer: Offer): WorkerClass {
  const key = classKey(offer)
  const known = grid.classes.get(key)
  if (known !== undefined) {
    grid.idleClasses.delete(known)
    return known
  }
  const made = makeClass(grid.classesMade++, key, offer)
  made.clock = grid.clock
  grid.classes.set(key, made)
  for (const pool of [...grid.pools.values()]) admit(grid, pool, made)
  return made
}

/** A class without workers is kept, since they mostly come back; but not every one that ever was. */
export function classIdle(grid: Grid, workers: WorkerClass): void {
  if (workers.workers.length > 0) return
  grid.idleClasses.add(workers)
  if (grid.idleClasses.size <= MOST_IDLE_CLASSES) return
  const [oldest] = grid.idleClasses
  if (oldest === undefined) return
  grid.idleClasses.delete(oldest)
  grid.classes.delete(oldest.key)
  for (const pool of oldest.pools) {
    pool.classes.splice(pool.classes.indexOf(oldest), 1)
    rekey(grid, pool)
  }
}

function admit(grid: Grid, pool: Pool, made: WorkerClass): void {
  const served: Lane[] = []
  const others: Lane[] = []
  for (const lane of pool.lanes) (serves(made, lane, pool.floor) ? served : others).push(lane)
  if (served.length === 0) return
  if (others.length === 0) {
    addClass(grid, pool, made)
    return
  }
  const weight = (lanes: readonly Lane[]) => lanes.reduce((sum, { queued }) => sum + queued + 1, 0)
  const servedMoves = weight(served) <= weight(others)
  const part = makePool(grid, pool.bucket, pool.classes)
  part.unservedSince = pool.unservedSince
  for (const one of pool.classes) one.pools.push(part)
  moveLanes(servedMoves ? served : others, pool, part)
  addClass(grid, servedMoves ? part : pool, made)
  rekey(grid, servedMoves ? pool : part)
}

function addClass(grid: Grid, pool: Pool, made: WorkerClass): void {
  pool.classes.push(made)
  made.pools.push(pool)
  if (made.live > 0) pool.live++
  rekey(grid, pool)
}

function addPool(grid: Grid, bucket: number, classes: readonly WorkerClass[]): Pool {
  const pool = makePool(grid, bucket, classes)
  grid.pools.set(pool.key, pool)
  for (const one of classes) one.pools.push(pool)
  return pool
}

/** Two pools may come to have the same classes when one is forgotten. Then new lanes go to one, and the other runs dry. */
function rekey(grid: Grid, pool: Pool): void {
  if (grid.pools.get(pool.key) === pool) grid.pools.delete(pool.key)
  pool.key = poolKey(pool.bucket, pool.classes)
  while (grid.pools.has(pool.key)) pool.key += "'"
  grid.pools.set(pool.key, pool)
}

function dropIfEmpty(grid: Grid, pool: Pool): void {
  if (pool.lanes.size > 0) return
  if (grid.pools.get(pool.key) === pool) grid.pools.delete(pool.key)
  for (const { pools } of pool.classes) pools.splice(pools.indexOf(pool), 1)
}

function moveLanes(lanes: readonly Lane[], from: Pool, to: Pool): void {
  const moved: Task[] = []
  for (const lane of lanes) {
    from.lanes.delete(lane)
    to.lanes.add(lane)
    lane.pool = to
    for (let task = lane.head; task !== undefined; task = task.laneNext) if (task.strand !== undefined) moved.push(task)
  }
  for (const lease of from.staged.oldest(from.staged.size)) {
    if (lease.task?.lane.pool !== to) continue
    from.staged.delete(lease)
    to.staged.add(lease)
  }
  moved.sort((one, other) => one.acceptedAt - other.acceptedAt)
  for (const task of moved) {
    leavePool(from, task)
    joinPool(to, task, false)
  }
}

/** How many amounts a pool knows. */
const DEMANDS_KNOWN = 4

/**
 * Tasks of a size mostly ask for exactly the same. They share the numbers, which so are mostly at hand when it is seen
 * whether a task fits, however many lanes there are.
 */
export function sharedDemand({ pool: { demands } }: Lane, demand: Amounts): Amounts {
  for (const known of demands) if (sameAmounts(known, demand)) return known
  if (demands.unshift(demand) > DEMANDS_KNOWN) demands.pop()
  return demand
}
