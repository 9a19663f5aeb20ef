import { accountUsage, catchUp } from '../shares/usage-accounts.ts'
import { couldHold } from '../workers/worker-class.ts'
import { releaseKeptWorker } from './kept-workers.ts'
import { watchGroup } from './no-worker-grace.ts'
import type { QueueState } from './queue-state.ts'
import type { RequirementGroup, Task, WorkerPool } from './records.ts'
import { joinPool, leavePool } from './worker-pool.ts'

/**
 * An instance that had nothing queued is served next, ahead of instances with equal usage. Otherwise the older task of
 * another instance would win, repeatedly, for as long as that instance has credit.
 */
const AHEAD_MS = 1

/** Puts a queued task into its group and its queue. */
export function enqueue(grid: QueueState, task: Task, front: boolean): void {
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

/** Removes a task from its group and its queue, or from the parked tasks. The task must be in its group. */
export function dequeue(grid: QueueState, task: Task): void {
  const { group, instance, invocation } = task
  leaveGroup(group, task)
  if (task.parked) {
    task.parked = false
    group.parked--
  } else leavePool(group.pool, task)
  instance.queued--
  invocation.queued--
  if (group.pool.queued === 0 && group.pool.kept !== undefined) releaseKeptWorker(grid, group.pool)
}

/** A class serves the group, but none of the workers is large enough for this task. */
export const fitsNoWorker = ({ group, demand }: Task): boolean =>
  group.pool.live > 0 && !group.pool.classes.some((one) => one.live > 0 && couldHold(one, demand))

/** Removes a task that fits no worker from its queue, so that searches do not find it. It stays in its group. */
export function park(grid: QueueState, task: Task): void {
  leavePool(task.group.pool, task)
  task.parked = true
  task.group.parked++
  watchGroup(grid, task.group)
}

/** Queues the parked tasks that fit a worker of a new size. */
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

/** The initial usage of an idle instance: that of the next waiting instance, or else the clock of the workers. */
function floorOf(grid: QueueState, { order, classes }: WorkerPool): number {
  const next = order.first()
  if (next !== undefined) return accountUsage(next.instance)
  let least = Number.POSITIVE_INFINITY
  for (const one of classes) if (one.live > 0 && one.clock < least) least = one.clock
  return least === Number.POSITIVE_INFINITY ? grid.clock : least
}

function joinGroup(group: RequirementGroup, task: Task): void {
  const { tail } = group
  task.groupPrevious = tail
  if (tail === undefined) group.head = task
  else tail.groupNext = task
  group.tail = task
  task.inGroup = true
  group.queued++
}

function leaveGroup(group: RequirementGroup, task: Task): void {
  const { groupNext: next, groupPrevious: previous } = task
  if (previous === undefined) group.head = next
  else previous.groupNext = next
  if (next === undefined) group.tail = previous
  else next.groupPrevious = previous
  task.groupNext = undefined
  task.groupPrevious = undefined
  task.inGroup = false
  group.queued--
}
