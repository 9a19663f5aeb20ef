import type { GridState } from '../grid.ts'
import { moveWorker } from '../grid.ts'
import { poolLiveChanged } from '../queue/no-worker-grace.ts'
import { setListed, takenSlots, takesTasks, type Worker } from './worker.ts'
import { type OpenWorkers, openWorkersFor } from './worker-class.ts'

/** Slots that it may use: all of them, unless it is not well. */
const slotsFor = ({ options }: GridState, { slots, state }: Worker): number =>
  state === 'DEGRADED' ? Math.max(1, Math.floor(slots * options.degradedShare)) : slots

export const hasSlot = (grid: GridState, worker: Worker): boolean =>
  takesTasks(worker) &&
  !worker.refusesTasks &&
  takenSlots(worker) < slotsFor(grid, worker) &&
  (!worker.pulls || worker.asked > 0)

/** That may be taken now. */
export const freeSlots = (grid: GridState, worker: Worker): number =>
  hasSlot(grid, worker) && worker.keptFor === undefined ? slotsFor(grid, worker) - takenSlots(worker) : 0

export const mayStage = (grid: GridState, worker: Worker): boolean =>
  worker.staged + worker.unconfirmedStaged < worker.prefetch &&
  !worker.refusesStaging &&
  takesTasks(worker) &&
  worker.keptFor === undefined &&
  (worker.refusesTasks || takenSlots(worker) >= slotsFor(grid, worker))

/** Brings the lists that workers are chosen from up to date with the worker. */
export function refreshWorker(grid: GridState, worker: Worker): void {
  if (worker.state === 'ONLINE' && takenSlots(worker) >= worker.slots)
    moveWorker(grid, worker, { move: 'fill', what: 'all slots are taken' })
  else if (worker.state === 'BUSY' && takenSlots(worker) < worker.slots)
    moveWorker(grid, worker, { move: 'free', what: 'a slot is free' })
  const open = hasSlot(grid, worker) && worker.keptFor === undefined
  listOpen(grid, worker, open ? openWorkersFor(worker.class, worker.free) : undefined)
  const stages = mayStage(grid, worker)
  if (stages !== worker.stagerAt >= 0) setListed(worker.class.stagers, worker, { place: 'stagerAt', listed: stages })
}

function listOpen(grid: GridState, worker: Worker, openIn: OpenWorkers | undefined): void {
  const before = worker.openIn
  if (before === openIn) return
  worker.openIn = openIn
  if (before === undefined) grid.openWorkers++
  else setListed(before.workers, worker, { place: 'openAt', listed: false })
  if (openIn === undefined) grid.openWorkers--
  else setListed(openIn.workers, worker, { place: 'openAt', listed: true })
}

/** A worker began to take tasks, or ceased to for good: what waits for one of its class is to know. */
export function liveChanged(grid: GridState, { class: own }: Worker, by: 1 | -1): void {
  own.live += by
  if (own.live !== (by === 1 ? 1 : 0)) return
  for (const pool of own.pools) {
    pool.live += by
    if (pool.live === (by === 1 ? 1 : 0)) poolLiveChanged(grid, pool)
  }
}
