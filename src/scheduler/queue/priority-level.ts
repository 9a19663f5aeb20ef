import { type HeapRules, LazyHeap } from '../shares/lazy-heap.ts'
import { accountUsage, catchUp, type InvocationState } from '../shares/usage-accounts.ts'
import type { InstanceQueue, InvocationQueue, PriorityLevel, Task } from './records.ts'

/** With more invocation queues than this, a level keeps a map of them instead of searching the heap. */
const MOST_SEARCHED = 64

const BY_INVOCATION: HeapRules<InvocationQueue> = {
  isEmpty: ({ head }) => head === undefined,
  dropped({ level, invocation }) {
    if (level.byInvocation === undefined) return
    level.byInvocation.delete(invocation)
    if (level.order.size < MOST_SEARCHED / 2) level.byInvocation = undefined
  },
}

export const makePriorityLevel = (instanceQueue: InstanceQueue, { priority, acceptedAt }: Task): PriorityLevel => ({
  instanceQueue,
  priority,
  order: new LazyHeap(instanceQueue.instance.ledger, BY_INVOCATION),
  queued: 0,
  since: acceptedAt,
  byInvocation: undefined,
})

/**
 * The lowest rank is served next. The age of the level's next task is approximated by the task that left last, which
 * arrived just before it. A level that is passed over keeps its rank while the others advance, and no lookup is needed.
 */
export const rankOf = ({ priority, instanceQueue, since }: PriorityLevel): number =>
  priority * instanceQueue.pool.agingMs + since

/** Notes that a task left the level. Returns whether the rank changed. */
export function noteTaskLeft(level: PriorityLevel, { acceptedAt }: Task): boolean {
  if (acceptedAt <= level.since) return false
  level.since = acceptedAt
  return true
}

/** The queue of the task's invocation, created on first use. */
export function invocationQueueFor(level: PriorityLevel, { invocation }: Task): InvocationQueue {
  // An invocation without queued tasks starts with the same usage as the waiting ones, neither ahead nor behind.
  if (invocation.queued === 0) {
    const next = level.order.first()
    catchUp(invocation, next === undefined ? invocation.instance.clock : accountUsage(next.invocation))
  }
  const known = findQueue(level, invocation)
  if (known !== undefined) return known
  const made = makeInvocationQueue(level, invocation)
  level.byInvocation?.set(invocation, made)
  return made
}

function findQueue(level: PriorityLevel, invocation: InvocationState): InvocationQueue | undefined {
  const { order } = level
  if (level.byInvocation === undefined && order.size > MOST_SEARCHED)
    level.byInvocation = new Map(order.items.map((queue) => [queue.invocation, queue]))
  if (level.byInvocation !== undefined) return level.byInvocation.get(invocation)
  // Account numbers are reused: an empty queue of a former invocation may still be in the heap under this number.
  return order.withNumber(invocation.number, (queue) => queue.invocation === invocation)
}

const makeInvocationQueue = (level: PriorityLevel, invocation: InvocationState): InvocationQueue => ({
  level,
  invocation,
  head: undefined,
  tail: undefined,
  heaped: false,
  number: invocation.number,
})

export function linkTask(queue: InvocationQueue, task: Task, front: boolean): void {
  const { head, tail } = queue
  if (front) {
    task.queueNext = head
    if (head !== undefined) head.queuePrevious = task
    queue.head = task
    if (tail === undefined) queue.tail = task
  } else {
    task.queuePrevious = tail
    if (tail !== undefined) tail.queueNext = task
    queue.tail = task
    if (head === undefined) queue.head = task
  }
  task.invocationQueue = queue
}

export function unlinkTask(queue: InvocationQueue, task: Task): void {
  const { queueNext: next, queuePrevious: previous } = task
  if (previous === undefined) queue.head = next
  else previous.queueNext = next
  if (next === undefined) queue.tail = previous
  else next.queuePrevious = previous
  task.queueNext = undefined
  task.queuePrevious = undefined
  task.invocationQueue = undefined
}
