import type { Task } from '../queue/records.ts'
import { joinPool, leavePool } from '../queue/worker-pool.ts'
import type { Worker } from '../workers/records.ts'
import { takesTasks } from '../workers/worker.ts'

/*
 * A task whose attempt failed on a worker is retried on another one, as long as another worker can run it. Such tasks are
 * rare, so a search through the workers is cheap enough.
 */

/** How many tasks that avoid the worker one search may set aside. */
const MOST_SET_ASIDE = 8

export const avoidsWorker = ({ avoids: ids, group }: Task, { id }: Worker): boolean =>
  ids.length > 0 &&
  ids.includes(id) &&
  group.pool.classes.some(
    ({ live, workers }) => live > 0 && workers.some((other) => takesTasks(other) && !ids.includes(other.id)),
  )

/** The next task of the search that does not avoid the worker. Tasks that it passes over keep their places. */
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
