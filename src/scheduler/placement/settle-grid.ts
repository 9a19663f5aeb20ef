import { refreshWorker } from '../workers/availability.ts'
import { isRegistered, type Worker } from '../workers/worker.ts'
import { fillWorker } from './fill-worker.ts'
import { placeTask } from './place-task.ts'
import type { PlacementState } from './placement-state.ts'

/** Ends an event: places the tasks that it queued and fills the workers that it freed, until nothing more changes. */
export function settleGrid(grid: PlacementState): void {
  const { toPlace, freed } = grid
  do {
    for (const task of toPlace) if (task.state === 'queued' && !task.inGroup) placeTask(grid, task)
    empty(toPlace)
    for (const worker of freed) {
      worker.freed = false
      if (isRegistered(worker)) fillOrShutDown(grid, worker)
    }
    empty(freed)
  } while (toPlace.length > 0)
  for (const worker of grid.answered) {
    worker.asked = 0
    refreshWorker(grid, worker)
  }
  empty(grid.answered)
}

/** Removes the elements one by one: setting `length` would free memory that the next event needs again. */
function empty(list: unknown[]): void {
  while (list.length > 0) list.pop()
}

function fillOrShutDown(grid: PlacementState, worker: Worker): void {
  fillWorker(grid, worker)
  if (!worker.shutdownWhenEmpty || worker.firstHeld !== undefined) return
  worker.shutdownWhenEmpty = false
  grid.effects.push({ kind: 'order', worker: worker.id, order: 'shutdown' })
}
