import type { InstanceName } from '../../model/instance-name.ts'
import type { FinalState } from '../../model/task-state.ts'
import type { RefusalWhy } from '../../scheduler/model/effects.ts'
import type { Property } from '../../scheduler/model/events.ts'

/** What is counted of the grid, as it happens. Gauges are read from the engine's figures. */
export interface GridMeter {
  /** Looked up once a task; clients choose both, so whoever keeps a figure for each must keep few. */
  of(instance: InstanceName, properties: readonly Property[]): TaskMeter
  refused(why: RefusalWhy | 'journal' | 'closing'): void
}

export interface TaskMeter {
  accepted(): void
  /** An operation came along that wanted the same. */
  merged(): void
  /** The cache had it. */
  hit(): void
  /** From being queued until a worker had the lease, for each attempt. */
  waited(ms: number): void
  /** How long its last attempt ran, if one did. */
  ended(state: FinalState, ranMs: number | undefined): void
}

const silentTask: TaskMeter = { accepted() {}, merged() {}, hit() {}, waited() {}, ended() {} }

/** For tests, and for who does not count. */
export const silentMeter: GridMeter = { of: () => silentTask, refused() {} }
