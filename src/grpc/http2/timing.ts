/** The clock of this engine; the caller that opens a server or a channel passes it in. */
export interface Timing {
  /** Milliseconds on a monotonic clock. */
  now(): number
  /** Calls back once after `ms`, without keeping the process alive; the answer takes it back. */
  after(ms: number, callback: () => void): () => void
}
