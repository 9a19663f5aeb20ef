import type { Clock } from '../base/clock.ts'

export interface ManualClock extends Clock {
  /** Advances time by `ms`, and calls due callbacks in order. */
  advance(ms: number): void
  /** The number of pending callbacks. */
  pending(): number
}

/** A clock that only the test advances. */
export function manualClock(start = 1_700_000_000_000): ManualClock {
  let elapsed = 0
  const waiting = new Set<{ at: number; callback: () => void }>()
  const nextBy = (end: number) => [...waiting].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0]
  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    after(ms, callback) {
      const entry = { at: elapsed + ms, callback }
      waiting.add(entry)
      return () => waiting.delete(entry)
    },
    advance(ms) {
      const end = elapsed + ms
      for (let due = nextBy(end); due !== undefined; due = nextBy(end)) {
        waiting.delete(due)
        elapsed = Math.max(elapsed, due.at)
        due.callback()
      }
      elapsed = end
    },
    pending: () => waiting.size,
  }
}
