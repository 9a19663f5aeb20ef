import { vi } from 'vitest'

/** Repeats an assertion until it holds. The time limit catches a hang; it does not measure the machine. */
export const eventually = <T>(assertion: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(assertion, { timeout: 60_000, interval: 20 })
