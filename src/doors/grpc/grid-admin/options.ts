import type { Clock } from '../../../base/clock.ts'
import type { Engine } from '../../../engine/engine.ts'

/** Counts of submitted and ended tasks since the start; two readings give a rate. A cached result counts in both. */
export interface TaskTally {
  readonly accepted: number
  readonly ended: number
}

export interface GridAdminOptions {
  readonly engine: Engine
  readonly clock: Clock
  readonly tally: () => TaskTally
  /** Aborted when the server is about to stop. Streams without an end are closed then. */
  readonly ending: AbortSignal
}
