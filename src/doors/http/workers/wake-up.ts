import type { Clock } from '../../../base/clock.ts'

/** Wakes requests that wait for orders to a worker. Orders are counted, so that none is missed between two requests. */
export interface WakeUp {
  readonly rung: number
  ring(): void
  /** Resolves when it has rung oftener than that, or the time is up, or one of the signals is aborted. */
  wait(seen: number, waitMs: number, signals: readonly AbortSignal[]): Promise<void>
}

/** A worker needs one; of more, the first give way. */
const MOST_WAITING = 4

export function wakeUp(clock: Pick<Clock, 'after'>): WakeUp {
  let rung = 0
  const waiting = new Set<() => void>()
  return {
    get rung() {
      return rung
    },
    ring() {
      rung++
      for (const wake of [...waiting]) wake()
    },
    wait: (seen, waitMs, signals) =>
      new Promise((resolve) => {
        if (rung !== seen || waitMs <= 0 || signals.some(({ aborted }) => aborted)) return resolve()
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
