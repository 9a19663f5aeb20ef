import type { Task } from '../queue/task.ts'
import { joinPool, leavePool } from '../queue/worker-pool.ts'
import { takesTasks, type Worker } from '../workers/worker.ts'

/*
 * A task whose attempt came to nothing on one worker is tried on another one, for as long as there is another one that
 * can run it. Such tasks are few, so looking through the workers costs nothing that matters.
 */

/** How many tasks that avoid a worker are set aside for it in one search. */
const MOST_SET_ASIDE = 8

export const avoidsWorker = ({ avoids: ids, group }: Task, { id }: Worker): boolean =>
  ids.length > 0 &&
  ids.includes(id) &&
  group.pool.classes.some(
    ({ live, workers }) => live > 0 && workers.some((other) => takesTasks(other) && !ids.includes(other.id)),
  )

/** The next task that the search finds and that does not avoid the worker. What it passes over keeps its place. */
export function nextFor(worker: Worker, search: () => Task | undefined): Task | undefined {
  let task = search()
  if (task === undefined || !avoidsWorker(task, worker)) return task
  const aside: Task[] = []
  while (task !== undefined && avoidsWorker(task, worker) && aside.length < MOST_SET_ASIDE) {
    leavePool(task.group.pool, task)
    aside.unshift(task)
    task = search()
  }
  for (const one of aside) joinPool(one.group.pool, one, true)
  return task === undefined || avoidsWorker(task, worker) ? undefined : task
}

/** From now on the worker that has it is avoided. */
export function avoidHolder(task: Task): void {
  const id = task.lease?.workerId
  if (id !== undefined && !task.avoids.includes(id)) task.avoids = [...task.avoids, id]
}
