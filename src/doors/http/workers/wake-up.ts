import type { Clock } from '../../../base/clock.ts'

/** Wakes requests that wait for orders to a worker. Orders are counted, so that none is missed between two requests. */
export interface WakeUp {
  readonly count: number
  notify(): void
  /** Resolves when `count` differs from `seen`, the time is up, or a signal is aborted. */
  wait(seen: number, waitMs: number, signals: readonly AbortSignal[]): Promise<void>
}

/** A worker needs one waiting request; above this number, the oldest is answered. */
const MOST_WAITING = 4

export function wakeUp(clock: Pick<Clock, 'after'>): WakeUp {
  let count = 0
  const waiting = new Set<() => void>()
  return {
    get count() {
      return count
    },
    notify() {
      count++
      for (const wake of [...waiting]) wake()
    },
    wait: (seen, waitMs, signals) =>
      new Promise((resolve) => {
        if (count !== seen || waitMs <= 0 || signals.some(({ aborted }) => aborted)) return resolve()
        const wake = (): void => {
          waiting.delete(wake)
          forget()
          for (const signal of signals) signal.removeEventListener('abort', wake)
          resolve()
        }
        const forget = clock.after(waitMs, wake)
        for (const signal of signals) signal.addEventListener('abort', wake, { once: true })
        waiting.add(wake)
        const [first] = waiting
        if (waiting.size > MOST_WAITING) first?.()
      }),
  }
}
