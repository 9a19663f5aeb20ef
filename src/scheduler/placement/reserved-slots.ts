import { freeWorker, type GridState } from '../grid.ts'
import type { Reserver } from '../model/options.ts'
import type { InstanceState } from '../shares/shares.ts'
import { freeSlots } from '../workers/availability.ts'

/*
 * Slots that an instance can always have: as many as it lacks of those stay free, whatever others have waiting. Fairness sees to
 * it that who comes next gets the next slot that falls free; a reservation, that it need not wait for one. Counted over all
 * workers, whatever they can do. Costs a look at them for each decision, and nothing where nobody has any.
 */

const lackOf = ({ instances }: GridState, { name, slots }: Reserver): number =>
  Math.max(0, slots - (instances.get(name)?.active ?? 0))

/** Whether a slot may go to the instance: it lacks some of its own, or more are free than those need who do. */
export const mayHaveSlot = (grid: GridState, { name }: InstanceState): boolean =>
  grid.reservers.some((each) => each.name === name && lackOf(grid, each) > 0) || mayAnyHaveSlot(grid)

/** Whether more slots are free than are kept. */
export function mayAnyHaveSlot(grid: GridState): boolean {
  if (grid.reservers.length === 0) return true
  let left = grid.reservers.reduce((sum, each) => sum + lackOf(grid, each), 0)
  if (left === 0) return true
  for (const worker of grid.workers.values()) {
    left -= freeSlots(grid, worker)
    if (left < 0) return true
  }
  return false
}

/** Those that wait for a slot of their own. */
export const owedInstances = (grid: GridState): readonly InstanceState[] =>
  grid.reservers.flatMap((each) => {
    const instance = grid.instances.get(each.name)
    return instance !== undefined && instance.queued > 0 && lackOf(grid, each) > 0 ? [instance] : []
  })

/** What was kept free for one that has now what it wanted is for others again. */
export function offerKept(grid: GridState, { name }: InstanceState): void {
  if (!grid.reservers.some((each) => each.name === name)) return
  for (const worker of grid.workers.values()) if (worker.openIn !== undefined) freeWorker(grid, worker)
}
