import type { TaskState } from '../../model/task-state.ts'

/** What can happen to a task. */
export type TaskMove =
  | 'enqueue'
  /** The action cache had it. */
  | 'hit'
  | 'assign'
  | 'start'
  | 'finish'
  /** Its own time was up. */
  | 'expire'
  /** The attempt came to nothing, by a fault of the grid. */
  | 'lapse'
  /** The attempt was given back, and that is nobody's fault. */
  | 'yield'
  | 'giveUp'
  | 'cancel'

/** All states, and every way from one to another. What is not here cannot happen. */
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
