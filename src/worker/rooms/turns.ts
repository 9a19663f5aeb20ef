/** Small calls to the file system are cheapest on the spot; after so many the rest of the worker gets its turn. */
const CALLS_A_TURN = 64

/** Counts calls, and lets the event loop go round when there were enough. */
export class Turns {
  readonly #signal: AbortSignal
  #calls = 0

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /** After each call; undefined when there is no need to wait. */
  next(): Promise<void> | undefined {
    if (++this.#calls % CALLS_A_TURN !== 0) return undefined
    this.#signal.throwIfAborted()
    return new Promise((resolve) => setImmediate(resolve))
  }
}
