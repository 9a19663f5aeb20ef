import type { Grid } from '../grid.ts'
import { catchUp, servedOf } from '../shares/shares.ts'
import { couldHold } from '../workers/worker-class.ts'
import { unkeep } from './kept-workers.ts'
import { watchLane } from './no-worker-grace.ts'
import { joinLane, leaveLane } from './requirement-group.ts'
import type { Task } from './task.ts'
import { joinPool, leavePool, type Pool } from './worker-pool.ts'

/**
 * An instance that has nothing waiting, and comes again, is next: were it level with who is first, the older task would go
 * first, and go on doing so for as long as its instance has credit.
 */
const AHEAD_MS = 1

/** Puts a queued task where it waits for its turn. */
export function enqueue(grid: Grid, task: Task, front: boolean): void {
  const { lane, instance, invocation } = task
  const { pool } = lane
  if (instance.queued === 0) catchUp(instance, floorOf(grid, pool) - AHEAD_MS)
  joinLane(lane, task)
  if (isHopeless(task)) {
    task.parked = true
    lane.parked++
  } else joinPool(pool, task, front)
  instance.queued++
  grid.order.add(instance)
  invocation.queued++
  if (task.parked || pool.live === 0) watchLane(grid, lane)
}

export function dequeue(grid: Grid, task: Task): void {
  const { lane, instance, invocation } = task
  if (!task.inLane) return
  leaveLane(lane, task)
  if (task.parked) {
    task.parked = false
    lane.parked--
  } else leavePool(lane.pool, task)
  instance.queued--
  invocation.queued--
  if (lane.pool.queued === 0 && lane.pool.kept !== undefined) unkeep(grid, lane.pool)
}

/** Some class serves its lane, and yet not one of the workers is large enough for this very task. */
export const isHopeless = ({ lane, demand }: Task): boolean =>
  lane.pool.live > 0 && !lane.pool.classes.some((one) => one.live > 0 && couldHold(one, demand))

/** Takes a task out of its line, so that it is not looked at in vain; it still waits in its lane. */
export function park(grid: Grid, task: Task): void {
  leavePool(task.lane.pool, task)
  task.parked = true
  task.lane.parked++
  watchLane(grid, task.lane)
}

/** A worker of a size that was not there before: what waited for it gets in line. */
export function unpark(pool: Pool): void {
  for (const lane of pool.lanes) {
    for (let task = lane.parked > 0 ? lane.head : undefined; task !== undefined; task = task.laneNext) {
      if (!task.parked || isHopeless(task)) continue
      task.parked = false
      lane.parked--
      joinPool(pool, task, false)
    }
  }
}

/** Where an instance that had nothing waiting begins: beside those that wait, or else where the workers have got to. */
function floorOf(grid: Grid, { order, classes }: Pool): number {
  const next = order.first()
  if (next !== undefined) return servedOf(next.instance)
  let least = Number.POSITIVE_INFINITY
  for (const one of classes) if (one.live > 0 && one.clock < least) least = one.clock
  return least === Number.POSITIVE_INFINITY ? grid.clock : least
}
