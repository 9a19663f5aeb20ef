/** Small file system calls are cheapest when synchronous. After this many, other work of the event loop runs. */
const CALLS_A_TURN = 64

/** Counts synchronous calls, and yields to the event loop after `CALLS_A_TURN` of them. */
export class Turns {
  readonly #signal: AbortSignal
  #calls = 0

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /** Called after each call; undefined when there is no need to wait. */
  next(): Promise<void> | undefined {
    if (++this.#calls % CALLS_A_TURN !== 0) return undefined
    this.#signal.throwIfAborted()
    return new Promise((resolve) => setImmediate(resolve))
  }
}

/**
 * Runs `work` for every item, `most` at a time. After the first failure it starts no other, and waits for the running
 * ones.
 */
export async function atOnce<T>(items: readonly T[], most: number, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  let hasFailed = false
  const one = async (): Promise<void> => {
    while (next < items.length && !hasFailed) {
      try {
        await work(items[next++] as T)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(most, items.length) }, one))
  const failed = lanes.find((lane) => lane.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
