import type { Timing } from '../grpc/http2/timing.ts'
import { manualClock } from './manual-clock.ts'

export interface ManualTiming extends Timing {
  /** Advances time by `ms`, and calls due callbacks in order. */
  advance(ms: number): void
  /** The number of pending callbacks. */
  pending(): number
}

/** The engine's clock, which only the test advances. */
export function manualTiming(): ManualTiming {
  const { monotonic, after, advance, pending } = manualClock()
  return { now: monotonic, after, advance, pending }
}
