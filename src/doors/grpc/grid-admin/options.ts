import type { Clock } from '../../../base/clock.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { TaskTally } from './task-tally.ts'

export interface GridAdminOptions {
  readonly engine: Engine
  readonly clock: Clock
  readonly tally: TaskTally
  /** Aborts when the server is about to stop: streams that would go on and on end then. */
  readonly ending: AbortSignal
}
