/** Time comes in by the door: parts that wait or date something are given one of these. */
export interface Clock {
  /** Milliseconds since 1970, for time stamps that people and other machines read. */
  now(): number
  /** Milliseconds on a clock that never jumps, for durations and deadlines. */
  monotonic(): number
  /** Calls back once after `ms`, without keeping the process alive; the answer takes it back. */
  after(ms: number, callback: () => void): () => void
}
