import type { InstanceName } from '../../model/instance-name.ts'
import type { FinalState } from '../../model/task-state.ts'
import type { RefusalWhy } from '../../scheduler/model/effects.ts'
import type { Property } from '../../scheduler/model/events.ts'

/** Counts events of the grid. Gauges are read from the engine's figures instead. */
export interface GridMeter {
  /**
   * Called once per task. Clients choose both arguments, so an implementation must limit the number of its counters.
   */
  of(instance: InstanceName, properties: readonly Property[]): TaskMeter
  refused(why: RefusalWhy | 'journal' | 'closing'): void
}

export interface TaskMeter {
  accepted(): void
  /** An identical operation was merged into the task. */
  merged(): void
  /** The result was in the action cache. */
  hit(): void
  /** The time from the queue to the lease, for each attempt. */
  waited(ms: number): void
  /** `ranMs` is how long the last attempt ran, if there was one. */
  ended(state: FinalState, ranMs: number | undefined): void
}

const silentTask: TaskMeter = { accepted() {}, merged() {}, hit() {}, waited() {}, ended() {} }

/** A meter that counts nothing. */
export const silentMeter: GridMeter = { of: () => silentTask, refused() {} }
