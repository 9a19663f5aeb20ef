import type { InvocationState } from '../shares/shares.ts'
import type { InvocationQueue, PriorityLevel, Task } from './records.ts'

export const makeInvocationQueue = (level: PriorityLevel, invocation: InvocationState): InvocationQueue => ({
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
