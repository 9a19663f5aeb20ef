import { sameFencing } from '../../model/fencing.ts'
import type { AttemptRef } from '../../scheduler/model/events.ts'
import type { LiveTask } from './live-task.ts'
import type { TaskRegistry } from './task-registry.ts'

/** Returns the task if the worker holds the attempt, which is the task's current one. */
export function currentTask(
  { tasks }: Pick<TaskRegistry, 'tasks'>,
  worker: string,
  { task: id, fencing }: AttemptRef,
): LiveTask | undefined {
  const task = tasks.get(id)
  return task?.fencing !== undefined && task.worker === worker && sameFencing(task.fencing, fencing) ? task : undefined
}
