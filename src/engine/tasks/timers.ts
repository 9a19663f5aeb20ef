import type { Clock } from '../../base/clock.ts'

export type TimerName = 'tick' | 'no-waiter' | 'retention' | 'repair' | 'record'

/** One timer per name; setting it again replaces it. */
export interface Timers {
  set(name: TimerName, ms: number, fire: () => void): void
  has(name: TimerName): boolean
  /** Cancels all timers. */
  close(): void
}

export function namedTimers(clock: Pick<Clock, 'after'>): Timers {
  const running = new Map<TimerName, () => void>()
  return {
    set(name, ms, fire) {
      running.get(name)?.()
      running.set(
        name,
        clock.after(Math.max(0, Math.ceil(ms)), () => {
          running.delete(name)
          fire()
        }),
      )
    },
    has: (name) => running.has(name),
    close() {
      for (const cancel of running.values()) cancel()
      running.clear()
    },
  }
}
