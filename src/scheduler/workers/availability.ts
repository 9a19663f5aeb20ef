import { type OpenWorkers, setListed, takenSlots, takesTasks, type Worker } from './worker.ts'
import { openWorkersFor } from './worker-class.ts'
import { moveWorker, type WorkersState } from './workers-state.ts'

/** The slots that the worker may use: a degraded worker gets only a part of them. */
const slotsFor = ({ options }: WorkersState, { slots, state }: Worker): number =>
  state === 'DEGRADED' ? Math.max(1, Math.floor(slots * options.degradedShare)) : slots

export const hasSlot = (grid: WorkersState, worker: Worker): boolean =>
  takesTasks(worker) &&
  !worker.refusesTasks &&
  takenSlots(worker) < slotsFor(grid, worker) &&
  (!worker.pulls || worker.asked > 0)

/** The number of slots that any task may use now. */
export const freeSlots = (grid: WorkersState, worker: Worker): number =>
  hasSlot(grid, worker) && !worker.kept ? slotsFor(grid, worker) - takenSlots(worker) : 0

export const mayStage = (grid: WorkersState, worker: Worker): boolean =>
  worker.staged + worker.unconfirmedStaged < worker.prefetch &&
  !worker.refusesStaging &&
  takesTasks(worker) &&
  !worker.kept &&
  (worker.refusesTasks || takenSlots(worker) >= slotsFor(grid, worker))

/** Updates the worker's state and its membership in the lists from which workers are chosen. */
export function refreshWorker(grid: WorkersState, worker: Worker): void {
  if (worker.state === 'ONLINE' && takenSlots(worker) >= worker.slots)
    moveWorker(grid, worker, { move: 'fill', what: 'all slots are taken' })
  else if (worker.state === 'BUSY' && takenSlots(worker) < worker.slots)
    moveWorker(grid, worker, { move: 'free', what: 'a slot is free' })
  const open = hasSlot(grid, worker) && !worker.kept
  listOpen(grid, worker, open ? openWorkersFor(worker.class, worker.free) : undefined)
  const stages = mayStage(grid, worker)
  if (stages !== worker.stagerAt >= 0) setListed(worker.class.stagers, worker, { place: 'stagerAt', listed: stages })
}

function listOpen(grid: WorkersState, worker: Worker, openIn: OpenWorkers | undefined): void {
  const before = worker.openIn
  if (before === openIn) return
  worker.openIn = openIn
  if (before === undefined) grid.openWorkers++
  else setListed(before.workers, worker, { place: 'openAt', listed: false })
  if (openIn === undefined) grid.openWorkers--
  else setListed(openIn.workers, worker, { place: 'openAt', listed: true })
}
