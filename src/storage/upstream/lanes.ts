/** Lets so many pieces of work go on at once; the others wait in line. */
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
        // The lane goes straight to whoever is next, so nobody slips in between.
        const next = waiting.shift()
        if (next === undefined) free++
        else next()
      }
    },
  }
}
