import type { Heaped } from '../shares/lazy-heap.ts'
import type { InstanceState } from '../shares/shares.ts'
import { type InvocationQueue, PriorityLevel } from './priority-level.ts'
import type { Task } from './task.ts'
import type { WorkerPool } from './worker-pool.ts'

/**
 * Within a pool each instance has a line. A line has a level for each priority in use, and a level a strand for each
 * invocation, first in first out. The line whose instance was served least is next; in it, the level that wins by
 * priority and age; in that, the strand whose invocation was served least.
 */
export class InstanceQueue implements Heaped {
  readonly pool: WorkerPool
  readonly instance: InstanceState
  /** Which level is next: waiting for `agingMs` is worth one step of priority. Undefined when nothing waits. */
  next: PriorityLevel | undefined
  queued = 0
  heaped = false
  /** Its place in the table of its instance; −1 when nothing waits in it. */
  at = -1
  readonly levels: PriorityLevel[] = []
  /** Of each level, beside it: so that after one of them changed the others need not be touched. */
  readonly #ranks: number[] = []

  constructor(pool: WorkerPool, instance: InstanceState) {
    this.pool = pool
    this.instance = instance
    this.next = undefined
  }

  get number(): number {
    return this.instance.number
  }

  isEmpty(): boolean {
    return this.queued === 0
  }

  levelFor(task: Task): PriorityLevel {
    for (const level of this.levels) if (level.priority === task.priority) return level
    const made = new PriorityLevel(this, task)
    this.levels.push(made)
    this.#ranks.push(made.rank)
    this.#choose()
    return made
  }

  /** Something left the level: it may not be the next any more, or be no more. */
  changed(level: PriorityLevel): void {
    const at = this.levels.indexOf(level)
    if (level.queued > 0) this.#ranks[at] = level.rank
    else {
      this.levels.splice(at, 1)
      this.#ranks.splice(at, 1)
    }
    this.#choose()
  }

  #choose(): void {
    const ranks = this.#ranks
    let best = 0
    for (let i = 1; i < ranks.length; i++) if ((ranks[i] as number) < (ranks[best] as number)) best = i
    this.next = this.levels[best]
    this.instance.instanceQueues.set(this, this.next, ranks[best] ?? 0)
  }
}

/** A task that comes back goes to the front: it has waited before. */
export function joinInstanceQueue(instanceQueue: InstanceQueue, task: Task, front: boolean): void {
  const level = instanceQueue.levelFor(task)
  const invocationQueue = level.invocationQueueFor(task)
  link(invocationQueue, task, front)
  task.invocationQueue = invocationQueue
  level.queued++
  instanceQueue.queued++
  level.add(invocationQueue)
}

export function leaveInstanceQueue(task: Task): void {
  const { invocationQueue } = task
  if (invocationQueue === undefined) return
  const { level } = invocationQueue
  unlink(invocationQueue, task)
  task.invocationQueue = undefined
  level.instanceQueue.queued--
  level.queued--
  if (invocationQueue.isEmpty()) level.ranDry(invocationQueue)
  if (level.gone(task) || level.queued === 0) level.instanceQueue.changed(level)
}

function link(invocationQueue: InvocationQueue, task: Task, front: boolean): void {
  const { head, tail } = invocationQueue
  if (front) {
    task.queueNext = head
    if (head !== undefined) head.queuePrevious = task
    invocationQueue.head = task
    if (tail === undefined) invocationQueue.tail = task
  } else {
    task.queuePrevious = tail
    if (tail !== undefined) tail.queueNext = task
    invocationQueue.tail = task
    if (head === undefined) invocationQueue.head = task
  }
}

function unlink(invocationQueue: InvocationQueue, task: Task): void {
  const { queueNext: next, queuePrevious: previous } = task
  if (previous === undefined) invocationQueue.head = next
  else previous.queueNext = next
  if (next === undefined) invocationQueue.tail = previous
  else next.queuePrevious = previous
  task.queueNext = undefined
  task.queuePrevious = undefined
}
