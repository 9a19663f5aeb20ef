import type { Input, Step } from './input.ts'

/** One input in progress: an exception of a step is a finding; `problems` lists other violations at the end. */
export interface Run {
  step(step: Step): void
  /** Disconnects the peer; all remaining work should end in the next turns of the event loop. */
  finish(): void
  problems(): string[]
}

export type Target = (input: Input) => Run
