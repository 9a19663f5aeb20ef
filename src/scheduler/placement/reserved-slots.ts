import type { LeaseState } from '../leases/lease-table.ts'
import type { Reserver } from '../model/options.ts'
import type { InstanceState } from '../queue/records.ts'
import { freeSlots, freeWorker } from '../workers/worker.ts'

/** The scheduler's state that concerns the choice of tasks and workers. */
export interface PlacementState extends LeaseState {
  /** Instances with reserved slots. */
  readonly reservers: readonly Reserver[]
  /** The number of pools searched so far: it numbers the searches. */
  searches: number
}

/*
 * Reserved slots: while an instance uses fewer slots than it has reserved, the difference stays free. Fair sharing
 * gives the next slot that becomes free to an idle instance; with a reservation the instance does not wait for it.
 * Slots are counted over all workers, whatever they offer. If there is a reservation, each decision visits all workers.
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
