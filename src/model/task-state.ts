/**
 * Where a task is in its life. Stored once; each door projects it into its own words. Which state follows which is in
 * `scheduler/model/task-machine.ts`.
 */
export const TASK_STATES = [
  'pending',
  'queued',
  'assigned',
  'running',
  'stopping',
  'retrying',
  'completed',
  'failed',
  'timeout',
  'cancelled',
] as const

export type TaskState = (typeof TASK_STATES)[number]

/** The states that nothing follows. A task that completed may have exited with 1: that is a result. */
export type FinalState = 'completed' | 'failed' | 'timeout' | 'cancelled'
