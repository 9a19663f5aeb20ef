/** Limits the number of concurrent operations; further ones are queued. */
export interface Lanes {
  run<T>(work: () => Promise<T>): Promise<T>
}

export function lanes(count: number): Lanes {
  const waiting: (() => void)[] = []
  let free = count
  return {
    async run(work) {
      if (free > 0) free--
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        // The place passes directly to the next waiter, so that no new operation overtakes it.
        const next = waiting.shift()
        if (next === undefined) free++
        else next()
      }
    },
  }
}
