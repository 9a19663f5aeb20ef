import type { Grid } from './grid.ts'
import { freeWorker, moveWorker } from './grid.ts'
import { unpark } from './queue/enqueue.ts'
import { noteBlocked, unkeep } from './queue/kept-workers.ts'
import { classIdle } from './queue/matchmaking.ts'
import { liveChanged, refresh } from './workers/availability.ts'
import { setListed, type Worker } from './workers/worker.ts'
import { addShape, removeShape } from './workers/worker-class.ts'

export function admit(grid: Grid, worker: Worker): void {
  moveWorker(grid, worker, { move: 'admit', what: 'it is ready' })
  becomeLive(grid, worker)
}

/** From now on it counts for what can be served. */
export function becomeLive(grid: Grid, worker: Worker): void {
  const isNew = addShape(worker.class, worker.total)
  liveChanged(grid, worker, 1)
  if (isNew) for (const pool of worker.class.pools) unpark(pool)
  freeWorker(grid, worker)
}

export function ceaseLive(grid: Grid, worker: Worker): void {
  removeShape(worker.class, worker.total)
  liveChanged(grid, worker, -1)
  const pool = worker.keptFor
  if (pool === undefined) return
  unkeep(grid, pool)
  noteBlocked(grid, pool)
}

export const isLive = ({ state }: Worker): boolean => state === 'ONLINE' || state === 'BUSY' || state === 'DEGRADED'

/** Out of the books; what becomes of what it held is for the caller to say. */
export function removeWorker(grid: Grid, worker: Worker, what: string): void {
  if (isLive(worker)) ceaseLive(grid, worker)
  moveWorker(grid, worker, { move: 'lose', what })
  grid.workerCounts.OFFLINE-- // what is gone is not counted
  refresh(grid, worker)
  setListed(worker.class.workers, worker, { place: 'classAt', listed: false })
  grid.workers.delete(worker.id)
  worker.free.close()
  classIdle(grid, worker.class)
}
