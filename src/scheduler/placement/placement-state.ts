import type { LeaseState } from '../leases/lease-state.ts'
import type { Reserver } from '../model/options.ts'

/** The scheduler's state that concerns the choice of tasks and workers. */
export interface PlacementState extends LeaseState {
  /** Instances with reserved slots. */
  readonly reservers: readonly Reserver[]
  /** The number of pools searched so far: it numbers the searches. */
  searches: number
}
