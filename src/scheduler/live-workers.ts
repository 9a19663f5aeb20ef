import type { GridState } from './grid.ts'
import { freeWorker, moveWorker } from './grid.ts'
import { unpark } from './queue/enqueue.ts'
import { notePoolBlocked, releaseKeptWorker } from './queue/kept-workers.ts'
import { noteIdleClass } from './queue/matchmaking.ts'
import { liveChanged, refreshWorker } from './workers/availability.ts'
import { setListed, type Worker } from './workers/worker.ts'
import { addShape, removeShape } from './workers/worker-class.ts'

export function admit(grid: GridState, worker: Worker): void {
  moveWorker(grid, worker, { move: 'admit', what: 'it is ready' })
  becomeLive(grid, worker)
}

/** From now on it counts for what can be served. */
export function becomeLive(grid: GridState, worker: Worker): void {
  const isNew = addShape(worker.class, worker.total)
  liveChanged(grid, worker, 1)
  if (isNew) for (const pool of worker.class.pools) unpark(pool)
  freeWorker(grid, worker)
}

export function ceaseLive(grid: GridState, worker: Worker): void {
  removeShape(worker.class, worker.total)
  liveChanged(grid, worker, -1)
  const pool = worker.keptFor
  if (pool === undefined) return
  releaseKeptWorker(grid, pool)
  notePoolBlocked(grid, pool)
}

export const isLive = ({ state }: Worker): boolean => state === 'ONLINE' || state === 'BUSY' || state === 'DEGRADED'

/** Out of the books; what becomes of what it held is for the caller to say. */
export function removeWorker(grid: GridState, worker: Worker, what: string): void {
  if (isLive(worker)) ceaseLive(grid, worker)
  moveWorker(grid, worker, { move: 'lose', what })
  grid.workerCounts.OFFLINE-- // what is gone is not counted
  refreshWorker(grid, worker)
  setListed(worker.class.workers, worker, { place: 'classAt', listed: false })
  grid.workers.delete(worker.id)
  worker.free.close()
  noteIdleClass(grid, worker.class)
}
