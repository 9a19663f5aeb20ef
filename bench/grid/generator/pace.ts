/** How calls start: `open` at a time, or `perSecond`. */
export interface Pace {
  readonly count: number
  /** No call starts after this time. */
  readonly mostMs: number
  readonly open: number
  readonly perSecond?: number
}

/** Runs `one` at the given pace; resolves with the number of calls and their total time. */
export async function paced(
  pace: Pace,
  one: (number: number) => Promise<void>,
): Promise<{ count: number; ms: number }> {
  const { count, mostMs, open, perSecond } = pace
  const start = performance.now()
  let begun = 0
  if (perSecond === undefined) {
    const line = async (): Promise<void> => {
      while (begun < count && performance.now() - start < mostMs) await one(begun++)
    }
    await Promise.all(Array.from({ length: open }, line))
  } else {
    const all: Promise<void>[] = []
    while (begun < count && performance.now() - start < mostMs) {
      const due = Math.min(count, ((performance.now() - start) / 1000) * perSecond)
      while (begun < due) all.push(one(begun++))
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    await Promise.all(all)
  }
  return { count: begun, ms: performance.now() - start }
}
