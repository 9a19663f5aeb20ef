/** The clock of this library; the creator of a server or a channel passes it. */
export interface Timing {
  /** Milliseconds on a monotonic clock. */
  now(): number
  /** Calls `callback` once after `ms`, without keeping the process alive. The returned function cancels it. */
  after(ms: number, callback: () => void): () => void
}
