import { FEWEST_SWEPT, type GridState } from '../grid.ts'
import { type Amounts, bucketFloor, sameAmounts } from '../model/amounts.ts'
import { classKey, makeWorkerClass, type OfferedResources, serves, type WorkerClass } from '../workers/worker-class.ts'
import { graceFor } from './no-worker-grace.ts'
import {
  makeRequirementGroup,
  type RequestedRequirements,
  type RequirementGroup,
  requirementsOf,
} from './requirement-group.ts'
import type { Task } from './task.ts'
import { joinPool, leavePool, makeWorkerPool, poolKey, type WorkerPool } from './worker-pool.ts'

/**
 * Which lanes can be served by which classes. It is worked out once when a lane or a class is new. Lanes with the same
 * answer share a pool, and a new class parts the pools that hold both lanes that it serves and lanes that it does not;
 * of the two parts the one with fewer tasks moves.
 */
const MOST_IDLE_CLASSES = 256

export function groupFor(grid: GridState, ask: RequestedRequirements): RequirementGroup {
  const requirements = requirementsOf(ask)
  const known = grid.groups.get(requirements)
  if (known !== undefined) return known
  if (grid.groups.size >= grid.sweepAt.groups) sweepGroups(grid)
  const least = bucketFloor(requirements.bucket)
  const classes = [...grid.classes.values()].filter((one) => serves(one, requirements, least))
  const pool = grid.pools.get(poolKey(requirements.bucket, classes)) ?? addPool(grid, requirements.bucket, classes)
  const group = makeRequirementGroup(requirements, pool, graceFor(grid.options, requirements.properties))
  pool.groups.add(group)
  grid.groups.add(group)
  return group
}

/** Forgets the lanes that are empty: what clients may ask for has no end. */
function sweepGroups(grid: GridState): void {
  for (const group of grid.groups.values()) {
    if (group.unfinished > 0) continue
    grid.groups.delete(group)
    group.pool.groups.delete(group)
    dropIfEmpty(grid, group.pool)
  }
  grid.sweepAt.groups = Math.max(FEWEST_SWEPT.groups, 2 * grid.groups.size)
}

export function classFor(grid: GridState, offer: OfferedResources): WorkerClass {
  const key = classKey(offer)
  const known = grid.classes.get(key)
  if (known !== undefined) {
    grid.idleClasses.delete(known)
    return known
  }
  const made = makeWorkerClass(grid.classesMade++, key, offer)
  made.clock = grid.clock
  grid.classes.set(key, made)
  for (const pool of [...grid.pools.values()]) admit(grid, pool, made)
  return made
}

/** A class without workers is kept, since they mostly come back; but not every one that ever was. */
export function noteIdleClass(grid: GridState, workers: WorkerClass): void {
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

function admit(grid: GridState, pool: WorkerPool, made: WorkerClass): void {
  const served: RequirementGroup[] = []
  const others: RequirementGroup[] = []
  for (const group of pool.groups) (serves(made, group, pool.floor) ? served : others).push(group)
  if (served.length === 0) return
  if (others.length === 0) {
    addClass(grid, pool, made)
    return
  }
  const weight = (groups: readonly RequirementGroup[]) => groups.reduce((sum, { queued }) => sum + queued + 1, 0)
  const servedMoves = weight(served) <= weight(others)
  const part = makeWorkerPool(grid, pool.bucket, pool.classes)
  part.unservedSince = pool.unservedSince
  for (const one of pool.classes) one.pools.push(part)
  moveGroups(servedMoves ? served : others, pool, part)
  addClass(grid, servedMoves ? part : pool, made)
  rekey(grid, servedMoves ? pool : part)
}

function addClass(grid: GridState, pool: WorkerPool, made: WorkerClass): void {
  pool.classes.push(made)
  made.pools.push(pool)
  if (made.live > 0) pool.live++
  rekey(grid, pool)
}

function addPool(grid: GridState, bucket: number, classes: readonly WorkerClass[]): WorkerPool {
  const pool = makeWorkerPool(grid, bucket, classes)
  grid.pools.set(pool.key, pool)
  for (const one of classes) one.pools.push(pool)
  return pool
}

/** Two pools may come to have the same classes when one is forgotten. Then new lanes go to one, and the other runs dry. */
function rekey(grid: GridState, pool: WorkerPool): void {
  if (grid.pools.get(pool.key) === pool) grid.pools.delete(pool.key)
  pool.key = poolKey(pool.bucket, pool.classes)
  while (grid.pools.has(pool.key)) pool.key += "'"
  grid.pools.set(pool.key, pool)
}

function dropIfEmpty(grid: GridState, pool: WorkerPool): void {
  if (pool.groups.size > 0) return
  if (grid.pools.get(pool.key) === pool) grid.pools.delete(pool.key)
  for (const { pools } of pool.classes) pools.splice(pools.indexOf(pool), 1)
}

function moveGroups(groups: readonly RequirementGroup[], from: WorkerPool, to: WorkerPool): void {
  const moved: Task[] = []
  for (const group of groups) {
    from.groups.delete(group)
    to.groups.add(group)
    group.pool = to
    for (let task = group.head; task !== undefined; task = task.groupNext)
      if (task.invocationQueue !== undefined) moved.push(task)
  }
  for (const lease of from.staged.oldest(from.staged.size)) {
    if (lease.task?.group.pool !== to) continue
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
export function sharedDemand({ pool: { demands } }: RequirementGroup, demand: Amounts): Amounts {
  for (const known of demands) if (sameAmounts(known, demand)) return known
  if (demands.unshift(demand) > DEMANDS_KNOWN) demands.pop()
  return demand
}
