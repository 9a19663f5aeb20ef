import { bucketFloor, type Requirements } from '../model/requirements.ts'
import type { WorkerClass } from '../workers/records.ts'
import { classKey, makeWorkerClass, type OfferedResources, serves } from '../workers/worker-class.ts'
import { graceFor } from './no-worker-grace.ts'
import { FEWEST_SWEPT, poolsServedBy, type QueueState } from './queue-state.ts'
import type { RequirementGroup, Task, WorkerPool } from './records.ts'
import { joinPool, leavePool, makeWorkerPool, poolKey } from './worker-pool.ts'

/**
 * Decides which classes of workers can serve which requirement groups, once for each new group and each new class.
 * Groups that the same classes serve share a pool. A new class splits every pool in which it serves only a part of the
 * groups; the part with fewer tasks moves to a new pool.
 */
const MOST_IDLE_CLASSES = 256
const FIRST_GUESS_MS = 1000

/** Makes the group of requirements that no unfinished task has had so far. */
export function addGroup(grid: QueueState, requirements: Requirements): RequirementGroup {
  const { properties, refusesPreemptible, bucket } = requirements
  if (grid.groups.size >= grid.sweepAt.groups) sweepGroups(grid)
  const least = bucketFloor(bucket)
  const classes = [...grid.classes.values()].filter((one) => serves(one, requirements, least))
  const pool = grid.pools.get(poolKey(bucket, classes)) ?? addPool(grid, bucket, classes)
  const group: RequirementGroup = {
    // Fields and no spread: V8 would store them outside of the object.
    number: 0,
    properties,
    refusesPreemptible,
    bucket,
    pool,
    head: undefined,
    tail: undefined,
    queued: 0,
    active: 0,
    unfinished: 0,
    parked: 0,
    estimateMs: FIRST_GUESS_MS,
    lookAt: Number.POSITIVE_INFINITY,
    graceMs: graceFor(grid.options, properties),
  }
  pool.groups.add(group)
  grid.groups.add(group)
  return group
}

/** Drops the groups without tasks: clients can send any number of different requirements. */
function sweepGroups(grid: QueueState): void {
  for (const group of grid.groups.values()) {
    if (group.unfinished > 0) continue
    grid.groups.delete(group)
    group.pool.groups.delete(group)
    dropIfEmpty(grid, group.pool)
  }
  grid.sweepAt.groups = Math.max(FEWEST_SWEPT.groups, 2 * grid.groups.size)
}

export function classFor(grid: QueueState, offer: OfferedResources): WorkerClass {
  const key = classKey(offer)
  const known = grid.classes.get(key)
  if (known !== undefined) {
    grid.idleClasses.delete(known)
    return known
  }
  const made = makeWorkerClass(grid.classesMade++, key, offer)
  made.clock = grid.clock
  grid.classes.set(key, made)
  for (const pool of [...grid.pools.values()]) admitClass(grid, pool, made)
  return made
}

/** A class without workers is kept, since its workers usually come back; at most `MOST_IDLE_CLASSES` are kept. */
export function noteIdleClass(grid: QueueState, workers: WorkerClass): void {
  if (workers.workers.length > 0) return
  grid.idleClasses.add(workers)
  if (grid.idleClasses.size <= MOST_IDLE_CLASSES) return
  const [oldest] = grid.idleClasses
  if (oldest === undefined) return
  grid.idleClasses.delete(oldest)
  grid.classes.delete(oldest.key)
  for (const pool of poolsServedBy(grid, oldest)) {
    pool.classes.splice(pool.classes.indexOf(oldest), 1)
    rekey(grid, pool)
  }
  grid.poolsOf.delete(oldest)
}

function admitClass(grid: QueueState, pool: WorkerPool, made: WorkerClass): void {
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
  for (const one of pool.classes) addToClass(grid, one, part)
  moveGroups(servedMoves ? served : others, pool, part)
  addClass(grid, servedMoves ? part : pool, made)
  rekey(grid, servedMoves ? pool : part)
}

function addClass(grid: QueueState, pool: WorkerPool, made: WorkerClass): void {
  pool.classes.push(made)
  addToClass(grid, made, pool)
  if (made.live > 0) pool.live++
  rekey(grid, pool)
}

function addPool(grid: QueueState, bucket: number, classes: readonly WorkerClass[]): WorkerPool {
  const pool = makeWorkerPool(grid, bucket, classes)
  grid.pools.set(pool.key, pool)
  for (const one of classes) addToClass(grid, one, pool)
  return pool
}

function addToClass({ poolsOf }: QueueState, workers: WorkerClass, pool: WorkerPool): void {
  const pools = poolsOf.get(workers)
  if (pools === undefined) poolsOf.set(workers, [pool])
  else pools.push(pool)
}

/**
 * Removing a class can leave two pools with the same classes. New groups are then added to one of them, and the other
 * pool becomes empty over time.
 */
function rekey(grid: QueueState, pool: WorkerPool): void {
  if (grid.pools.get(pool.key) === pool) grid.pools.delete(pool.key)
  pool.key = poolKey(pool.bucket, pool.classes)
  while (grid.pools.has(pool.key)) pool.key += "'"
  grid.pools.set(pool.key, pool)
}

function dropIfEmpty(grid: QueueState, pool: WorkerPool): void {
  if (pool.groups.size > 0) return
  if (grid.pools.get(pool.key) === pool) grid.pools.delete(pool.key)
  for (const one of pool.classes) {
    const pools = grid.poolsOf.get(one)
    pools?.splice(pools.indexOf(pool), 1)
  }
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
  for (const staged of from.staged.oldest(from.staged.size)) {
    if (staged.task?.group.pool !== to) continue
    from.staged.delete(staged)
    to.staged.add(staged)
  }
  moved.sort((one, other) => one.acceptedAt - other.acceptedAt)
  for (const task of moved) {
    leavePool(from, task)
    joinPool(to, task, false)
  }
}
