import type { GridState } from '../grid.ts'
import { catchUp, servedOf } from '../shares/shares.ts'
import { couldHold } from '../workers/worker-class.ts'
import { releaseKeptWorker } from './kept-workers.ts'
import { watchGroup } from './no-worker-grace.ts'
import { joinGroup, leaveGroup } from './requirement-group.ts'
import type { Task } from './task.ts'
import { joinPool, leavePool, type WorkerPool } from './worker-pool.ts'

/**
 * An instance that has nothing waiting, and comes again, is next: were it level with who is first, the older task would go
 * first, and go on doing so for as long as its instance has credit.
 */
const AHEAD_MS = 1

/** Puts a queued task where it waits for its turn. */
export function enqueue(grid: GridState, task: Task, front: boolean): void {
  const { group, instance, invocation } = task
  const { pool } = group
  if (instance.queued === 0) catchUp(instance, floorOf(grid, pool) - AHEAD_MS)
  joinGroup(group, task)
  if (fitsNoWorker(task)) {
    task.parked = true
    group.parked++
  } else joinPool(pool, task, front)
  instance.queued++
  grid.order.add(instance)
  invocation.queued++
  if (task.parked || pool.live === 0) watchGroup(grid, group)
}

export function dequeue(grid: GridState, task: Task): void {
  const { group, instance, invocation } = task
  if (!task.inGroup) return
  leaveGroup(group, task)
  if (task.parked) {
    task.parked = false
    group.parked--
  } else leavePool(group.pool, task)
  instance.queued--
  invocation.queued--
  if (group.pool.queued === 0 && group.pool.kept !== undefined) releaseKeptWorker(grid, group.pool)
}

/** Some class serves its lane, and yet not one of the workers is large enough for this very task. */
export const fitsNoWorker = ({ group, demand }: Task): boolean =>
  group.pool.live > 0 && !group.pool.classes.some((one) => one.live > 0 && couldHold(one, demand))

/** Takes a task out of its line, so that it is not looked at in vain; it still waits in its lane. */
export function park(grid: GridState, task: Task): void {
  leavePool(task.group.pool, task)
  task.parked = true
  task.group.parked++
  watchGroup(grid, task.group)
}

/** A worker of a size that was not there before: what waited for it gets in line. */
export function unpark(pool: WorkerPool): void {
  for (const group of pool.groups) {
    for (let task = group.parked > 0 ? group.head : undefined; task !== undefined; task = task.groupNext) {
      if (!task.parked || fitsNoWorker(task)) continue
      task.parked = false
      group.parked--
      joinPool(pool, task, false)
    }
  }
}

/** Where an instance that had nothing waiting begins: beside those that wait, or else where the workers have got to. */
function floorOf(grid: GridState, { order, classes }: WorkerPool): number {
  const next = order.first()
  if (next !== undefined) return servedOf(next.instance)
  let least = Number.POSITIVE_INFINITY
  for (const one of classes) if (one.live > 0 && one.clock < least) least = one.clock
  return least === Number.POSITIVE_INFINITY ? grid.clock : least
}
