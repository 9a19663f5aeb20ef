import type { GridState } from './grid.ts'
import { unpark } from './queue/enqueue.ts'
import { notePoolBlocked, releaseKeptWorker } from './queue/kept-workers.ts'
import { noteIdleClass } from './queue/matchmaking.ts'
import { poolLiveChanged } from './queue/no-worker-grace.ts'
import { poolsServedBy } from './queue/queue-state.ts'
import { refreshWorker } from './workers/availability.ts'
import { setListed, type Worker } from './workers/worker.ts'
import { addShape, removeShape } from './workers/worker-class.ts'
import { freeWorker, moveWorker } from './workers/workers-state.ts'

export function admit(grid: GridState, worker: Worker): void {
  moveWorker(grid, worker, { move: 'admit', what: 'it is ready' })
  becomeLive(grid, worker)
}

/** Counts the worker as one that can serve the tasks of its pools. */
export function becomeLive(grid: GridState, worker: Worker): void {
  const isNew = addShape(worker.class, worker.total)
  liveChanged(grid, worker, 1)
  if (isNew) for (const pool of poolsServedBy(grid, worker.class)) unpark(pool)
  freeWorker(grid, worker)
}

export function ceaseLive(grid: GridState, worker: Worker): void {
  removeShape(worker.class, worker.total)
  liveChanged(grid, worker, -1)
  const pool = grid.keptFor.get(worker)
  if (pool === undefined) return
  releaseKeptWorker(grid, pool)
  notePoolBlocked(grid, pool)
}

export const isLive = ({ state }: Worker): boolean => state === 'ONLINE' || state === 'BUSY' || state === 'DEGRADED'

/** Removes the worker from all tables. The caller decides about the tasks that it held. */
export function removeWorker(grid: GridState, worker: Worker, what: string): void {
  if (isLive(worker)) ceaseLive(grid, worker)
  moveWorker(grid, worker, { move: 'lose', what })
  grid.workerCounts.OFFLINE-- // workers that are gone are not counted
  refreshWorker(grid, worker)
  setListed(worker.class.workers, worker, { place: 'classAt', listed: false })
  grid.workers.delete(worker.id)
  worker.free.close()
  noteIdleClass(grid, worker.class)
}

/** Updates the pools of the worker's class when the first live worker arrives or the last one leaves. */
function liveChanged(grid: GridState, { class: own }: Worker, by: 1 | -1): void {
  own.live += by
  if (own.live !== (by === 1 ? 1 : 0)) return
  for (const pool of poolsServedBy(grid, own)) {
    pool.live += by
    if (pool.live === (by === 1 ? 1 : 0)) poolLiveChanged(grid, pool)
  }
}
