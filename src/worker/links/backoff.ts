import type { Clock } from '../../base/clock.ts'

const FIRST_MS = 100
const MOST_MS = 10_000

/** Pauses between retries, each up to twice as long as the previous one. */
export interface Backoff {
  /** Ends early when the signal is aborted. */
  pause(signal: AbortSignal): Promise<void>
  reset(): void
}

/** Half of each pause is random, so that the workers that lost a server do not reconnect at the same moment. */
export function backoff(clock: Pick<Clock, 'after'>, random: () => number): Backoff {
  let failures = 0
  return {
    pause(signal) {
      const ms = Math.min(MOST_MS, FIRST_MS * 2 ** failures++) * (0.5 + random() / 2)
      return new Promise((resolve) => {
        const end = (): void => {
          forget()
          signal.removeEventListener('abort', end)
          resolve()
        }
        const forget = clock.after(ms, end)
        signal.addEventListener('abort', end, { once: true })
        if (signal.aborted) end()
      })
    },
    reset() {
      failures = 0
    },
  }
}
