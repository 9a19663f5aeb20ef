import type { Clock } from '../../base/clock.ts'

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms).unref()
    return () => clearTimeout(timer)
  },
}

/** A clock whose timers keep the process alive: it must not exit before it has killed its children. */
export const lastingClock: Clock = {
  ...systemClock,
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

/** A sleep that, unlike `after`, keeps the process alive. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
