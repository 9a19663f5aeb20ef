import type { Grid } from '../grid.ts'
import { moveWorker } from '../grid.ts'
import { poolLiveChanged } from '../queue/no-worker-grace.ts'
import { setListed, takenSlots, takesTasks, type Worker } from './worker.ts'
import { type Room, roomFor } from './worker-class.ts'

/** Slots that it may use: all of them, unless it is not well. */
const slotsFor = ({ options }: Grid, { slots, state }: Worker): number =>
  state === 'DEGRADED' ? Math.max(1, Math.floor(slots * options.degradedShare)) : slots

export const hasSlot = (grid: Grid, worker: Worker): boolean =>
  takesTasks(worker) &&
  !worker.refusesTasks &&
  takenSlots(worker) < slotsFor(grid, worker) &&
  (!worker.pulls || worker.asked > 0)

/** That may be taken now. */
export const freeSlots = (grid: Grid, worker: Worker): number =>
  hasSlot(grid, worker) && worker.keptFor === undefined ? slotsFor(grid, worker) - takenSlots(worker) : 0

export const mayStage = (grid: Grid, worker: Worker): boolean =>
  worker.staged + worker.unconfirmedStaged < worker.prefetch &&
  !worker.refusesStaging &&
  takesTasks(worker) &&
  worker.keptFor === undefined &&
  (worker.refusesTasks || takenSlots(worker) >= slotsFor(grid, worker))

/** Brings the lists that workers are chosen from up to date with the worker. */
export function refresh(grid: Grid, worker: Worker): void {
  if (worker.state === 'ONLINE' && takenSlots(worker) >= worker.slots)
    moveWorker(grid, worker, { move: 'fill', what: 'all slots are taken' })
  else if (worker.state === 'BUSY' && takenSlots(worker) < worker.slots)
    moveWorker(grid, worker, { move: 'free', what: 'a slot is free' })
  const open = hasSlot(grid, worker) && worker.keptFor === undefined
  moveToRoom(grid, worker, open ? roomFor(worker.class, worker.free) : undefined)
  const stages = mayStage(grid, worker)
  if (stages !== worker.stagerAt >= 0) setListed(worker.class.stagers, worker, { place: 'stagerAt', listed: stages })
}

function moveToRoom(grid: Grid, worker: Worker, room: Room | undefined): void {
  const before = worker.room
  if (before === room) return
  worker.room = room
  if (before === undefined) grid.openWorkers++
  else setListed(before.workers, worker, { place: 'openAt', listed: false })
  if (room === undefined) grid.openWorkers--
  else setListed(room.workers, worker, { place: 'openAt', listed: true })
}

/** A worker began to take tasks, or ceased to for good: what waits for one of its class is to know. */
export function liveChanged(grid: Grid, { class: own }: Worker, by: 1 | -1): void {
  own.live += by
  if (own.live !== (by === 1 ? 1 : 0)) return
  for (const pool of own.pools) {
    pool.live += by
    if (pool.live === (by === 1 ? 1 : 0)) poolLiveChanged(grid, pool)
  }
}
