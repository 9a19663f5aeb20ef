import type { Input, Step } from './input.ts'

/** One input on its way: steps may throw, which is a finding; `problems` lists what else is wrong at the end. */
export interface Run {
  step(step: Step): void
  /** The peer is gone; whatever still runs should end by itself in the next turns of the event loop. */
  finish(): void
  problems(): string[]
}

export type Target = (input: Input) => Run
