/**
 * The number of ended leases that are remembered: late reports come within minutes, and an entry takes about 100 bytes.
 */
const MOST_FORMER = 16_384

/**
 * Leases that ended without a report of their worker. A late report is recorded beside its task only if the former
 * holder sends it: any client can name a task and a fencing number, and must not be able to write to the journal that
 * way.
 */
export interface FormerLeases {
  add(attemptId: string, worker: string): void
  /** Returns true once for each lease: repeats of the same late report are not recorded again. */
  take(attemptId: string, worker: string): boolean
}

export function formerLeases(): FormerLeases {
  const holders = new Map<string, string>()
  return {
    add(attemptId, worker) {
      holders.set(attemptId, worker)
      if (holders.size <= MOST_FORMER) return
      const [oldest] = holders.keys()
      if (oldest !== undefined) holders.delete(oldest)
    },
    take: (attemptId, worker) => holders.get(attemptId) === worker && holders.delete(attemptId),
  }
}
