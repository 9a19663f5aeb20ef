/** The only clock this engine knows; whoever opens a server or a channel brings it. */
export interface Timing {
  /** Milliseconds on a monotonic clock. */
  now(): number
  /** Calls back once after `ms`, without keeping the process alive; the answer takes it back. */
  after(ms: number, callback: () => void): () => void
}
