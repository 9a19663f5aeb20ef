import type { FinalState } from '../../model/task-state.ts'
import type { EndWhy } from '../model/effects.ts'
import type { TaskMove } from '../model/task-machine.ts'
import { dequeue } from '../queue/enqueue.ts'
import { moveTask } from '../queue/queue-state.ts'
import type { Task } from '../queue/records.ts'
import { releaseLease } from './grant-lease.ts'
import type { LeaseState } from './lease-state.ts'

/** The time constant of the average rate of finished tasks. */
const DRAIN_WINDOW_MS = 10_000

export interface TaskEnd {
  readonly move: TaskMove
  readonly why: EndWhy
  readonly what: string
  /** How long its command ran, as far as the instance pays for it. */
  readonly ranMs?: number
}

/** Ends a task. Every end of a task passes through this function and produces one `finished` effect. */
export function finishTask(grid: LeaseState, task: Task, { move, why, what, ranMs = 0 }: TaskEnd): void {
  dequeue(grid, task)
  const lease = releaseLease(grid, task, ranMs)
  moveTask(grid, task, move)
  grid.taskCounts[task.state]-- // finished tasks are not counted
  forget(grid, task)
  noteDrain(grid)
  const { id, state } = task as { id: string; state: FinalState }
  if (lease === undefined) grid.effects.push({ kind: 'finished', task: id, state, why, what })
  else grid.effects.push({ kind: 'finished', task: id, state, why, what, fencing: lease.fencing })
}

function forget(grid: LeaseState, task: Task): void {
  const { instance, invocation } = task
  grid.tasks.delete(task)
  if (--invocation.unfinished === 0) {
    instance.invocations.delete(invocation.name)
    grid.ledger.close(invocation.number)
  }
  instance.unfinished--
  task.group.unfinished--
}

function noteDrain({ drain, now }: LeaseState): void {
  const elapsed = now - drain.at
  drain.rate = drain.rate * Math.exp(-elapsed / DRAIN_WINDOW_MS) + 1 / DRAIN_WINDOW_MS
  drain.at = now
}
