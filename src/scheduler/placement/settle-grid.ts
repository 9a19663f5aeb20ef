import type { GridState } from '../grid.ts'
import { refreshWorker } from '../workers/availability.ts'
import { isRegistered, type Worker } from '../workers/worker.ts'
import { fillWorker } from './fill-worker.ts'
import { placeTask } from './place-task.ts'

/** After an event: what it queued is placed, and what it freed is filled, until nothing more can be done. */
export function settleGrid(grid: GridState): void {
  const { toPlace, freed } = grid
  do {
    for (const task of toPlace) if (task.state === 'queued' && !task.inGroup) placeTask(grid, task)
    empty(toPlace)
    for (const worker of freed) {
      worker.freed = false
      if (isRegistered(worker)) offer(grid, worker)
    }
    empty(freed)
  } while (toPlace.length > 0)
  for (const worker of grid.answered) {
    worker.asked = 0
    refreshWorker(grid, worker)
  }
  empty(grid.answered)
}

/** One by one: setting the length would throw the list's memory away, to be had again at the next event. */
function empty(list: unknown[]): void {
  while (list.length > 0) list.pop()
}

function offer(grid: GridState, worker: Worker): void {
  fillWorker(grid, worker)
  if (!worker.shutdownWhenEmpty || worker.firstHeld !== undefined) return
  worker.shutdownWhenEmpty = false
  grid.effects.push({ kind: 'order', worker: worker.id, order: 'shutdown' })
}
