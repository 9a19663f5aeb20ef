import type { Effect } from './effects.ts'
import type { Instant } from './events.ts'
import type { SchedulerOptions } from './options.ts'

/** Every decision reads the options and the time of the current event, and appends its effects. */
export interface EventContext {
  readonly options: SchedulerOptions
  now: Instant
  effects: Effect[]
}

/**
 * Accepts timers. Each layer adds its own kind of timer; `tick.ts` handles all of them. Timers are never removed: the
 * handler checks whether the timer still applies, so renewing a lease costs nothing here.
 */
export interface TimerSink<Due> {
  push(at: Instant, due: Due): void
}
