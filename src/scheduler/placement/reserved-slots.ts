import type { Reserver } from '../model/options.ts'
import type { InstanceState } from '../queue/records.ts'
import { freeSlots } from '../workers/availability.ts'
import { freeWorker } from '../workers/workers-state.ts'
import type { PlacementState } from './placement-state.ts'

/*
 * Reserved slots: as many slots stay free as an instance uses fewer than its reserved number. Fair sharing gives the next
 * slot that becomes free to an idle instance; a reservation means that the instance need not wait for it. Slots are
 * counted over all workers, whatever they offer. Each decision visits the workers, only if there is a reservation.
 */

const missingSlots = ({ instances }: PlacementState, { name, slots }: Reserver): number =>
  Math.max(0, slots - (instances.get(name)?.active ?? 0))

/** Whether the instance may use a free slot: it lacks reserved slots itself, or more slots are free than reserved. */
export const mayHaveSlot = (grid: PlacementState, { name }: InstanceState): boolean =>
  grid.reservers.some((each) => each.name === name && missingSlots(grid, each) > 0) || mayAnyHaveSlot(grid)

/** Whether more slots are free than must stay free for reservations. */
export function mayAnyHaveSlot(grid: PlacementState): boolean {
  if (grid.reservers.length === 0) return true
  let left = grid.reservers.reduce((sum, each) => sum + missingSlots(grid, each), 0)
  if (left === 0) return true
  for (const worker of grid.workers.values()) {
    left -= freeSlots(grid, worker)
    if (left < 0) return true
  }
  return false
}

/** The instances with queued tasks that lack reserved slots. */
export const owedInstances = (grid: PlacementState): readonly InstanceState[] =>
  grid.reservers.flatMap((each) => {
    const instance = grid.instances.get(each.name)
    return instance !== undefined && instance.queued > 0 && missingSlots(grid, each) > 0 ? [instance] : []
  })

/** The instance has got a slot: slots that were free for its reservation may now serve other instances. */
export function offerKept(grid: PlacementState, { name }: InstanceState): void {
  if (!grid.reservers.some((each) => each.name === name)) return
  for (const worker of grid.workers.values()) if (worker.openIn !== undefined) freeWorker(grid, worker)
}
