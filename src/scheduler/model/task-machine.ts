import type { TaskState } from '../../model/task-state.ts'

/** The moves between states of a task. */
export type TaskMove =
  | 'enqueue'
  /** The action cache has the result. */
  | 'hit'
  | 'assign'
  | 'start'
  | 'finish'
  /** The task's time-out has passed. */
  | 'expire'
  /** The attempt failed by a fault of the grid. */
  | 'lapse'
  /** The worker returned the task, without a fault. */
  | 'yield'
  | 'giveUp'
  | 'cancel'

/** All states and all moves. A move that is not listed is a bug. */
export const TASK_MOVES: Readonly<Record<TaskState, Readonly<Partial<Record<TaskMove, TaskState>>>>> = {
  pending: { enqueue: 'queued', hit: 'completed', cancel: 'cancelled' },
  queued: { assign: 'assigned', giveUp: 'failed', cancel: 'cancelled' },
  assigned: { start: 'running', lapse: 'retrying', yield: 'queued', cancel: 'stopping' },
  running: { finish: 'completed', expire: 'timeout', lapse: 'retrying', yield: 'queued', cancel: 'stopping' },
  stopping: { finish: 'cancelled', lapse: 'cancelled' },
  retrying: { enqueue: 'queued', giveUp: 'failed', cancel: 'cancelled' },
  completed: {},
  failed: {},
  timeout: {},
  cancelled: {},
}
