import { invocationQueueFor, linkTask, makePriorityLevel, noteTaskLeft, rankOf, unlinkTask } from './priority-level.ts'
import type { InstanceQueue, InstanceQueueTable, InstanceState, PriorityLevel, Task, WorkerPool } from './records.ts'

export const makeInstanceQueue = (pool: WorkerPool, instance: InstanceState): InstanceQueue => ({
  pool,
  instance,
  next: undefined,
  queued: 0,
  heaped: false,
  number: instance.number,
  at: -1,
  levels: [],
  ranks: [],
})

/** A retried or returned task goes to the front of its invocation's queue: it has waited before. */
export function joinInstanceQueue(queue: InstanceQueue, task: Task, front: boolean): void {
  const level = levelFor(queue, task)
  const invocationQueue = invocationQueueFor(level, task)
  linkTask(invocationQueue, task, front)
  level.queued++
  queue.queued++
  level.order.add(invocationQueue)
}

export function leaveInstanceQueue(task: Task): void {
  const { invocationQueue } = task
  if (invocationQueue === undefined) return
  const { level } = invocationQueue
  unlinkTask(invocationQueue, task)
  level.instanceQueue.queued--
  level.queued--
  if (invocationQueue.head === undefined) level.order.becameEmpty(invocationQueue)
  if (noteTaskLeft(level, task) || level.queued === 0) levelChanged(level)
}

function levelFor(queue: InstanceQueue, task: Task): PriorityLevel {
  for (const level of queue.levels) if (level.priority === task.priority) return level
  const made = makePriorityLevel(queue, task)
  queue.levels.push(made)
  queue.ranks.push(rankOf(made))
  chooseNext(queue)
  return made
}

/** Updates the rank of a level that a task left, or removes the level when it is empty. */
function levelChanged(level: PriorityLevel): void {
  const { instanceQueue } = level
  const { levels, ranks } = instanceQueue
  const at = levels.indexOf(level)
  if (level.queued > 0) ranks[at] = rankOf(level)
  else {
    levels.splice(at, 1)
    ranks.splice(at, 1)
  }
  chooseNext(instanceQueue)
}

function chooseNext(queue: InstanceQueue): void {
  const { ranks } = queue
  let best = 0
  for (let i = 1; i < ranks.length; i++) if ((ranks[i] as number) < (ranks[best] as number)) best = i
  queue.next = queue.levels[best]
  setNext(queue.instance.queues, queue, ranks[best] ?? 0)
}

function setNext(table: InstanceQueueTable, queue: InstanceQueue, rank: number): void {
  const { next } = queue
  if (next === undefined) removeQueue(table, queue)
  else if (queue.at >= 0) {
    table.ranks[queue.at] = rank
    table.levels[queue.at] = next
  } else {
    queue.at = table.levels.push(next) - 1
    table.pools.push(queue.pool)
    table.ranks.push(rank)
  }
}

/** The last queue of the table moves into the gap. */
function removeQueue(table: InstanceQueueTable, queue: InstanceQueue): void {
  const { at } = queue
  if (at < 0) return
  queue.at = -1
  const rank = table.ranks.pop() as number
  const pool = table.pools.pop() as WorkerPool
  const level = table.levels.pop() as PriorityLevel
  if (at === table.levels.length) return
  table.ranks[at] = rank
  table.pools[at] = pool
  table.levels[at] = level
  level.instanceQueue.at = at
}
