import type { Timing } from '../grpc/http2/timing.ts'
import { manualClock } from './manual-clock.ts'

export interface ManualTiming extends Timing {
  /** Lets `ms` pass, and calls back in order whatever falls due. */
  advance(ms: number): void
  /** How many callbacks are waiting. */
  pending(): number
}

/** The engine's clock, standing still until a test moves it. */
export function manualTiming(): ManualTiming {
  const { monotonic, after, advance, pending } = manualClock()
  return { now: monotonic, after, advance, pending }
}
