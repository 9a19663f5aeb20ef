/** Runs up to `most` operations concurrently, and stops at the first that fails. */
export interface ConcurrencyLimit {
  /**
   * Resolves when the operation has started, so that callers wait for a free place; throws when an operation has
   * failed.
   */
  start(work: () => Promise<void>): Promise<void>
  /** Resolves when all that was started is done; throws as soon as something fails. */
  done(): Promise<void>
}

export function concurrencyLimit(most: number): ConcurrencyLimit {
  const busy = new Set<Promise<void>>()
  let failure: { readonly error: unknown } | undefined
  const mustBeWell = (): void => {
    if (failure !== undefined) throw failure.error
  }
  return {
    async start(work) {
      mustBeWell()
      while (busy.size >= most) await Promise.race(busy)
      mustBeWell()
      const run = work()
        .catch((error: unknown) => {
          failure ??= { error }
        })
        .finally(() => busy.delete(run))
      busy.add(run)
    },
    async done() {
      while (busy.size > 0 && failure === undefined) await Promise.race(busy)
      mustBeWell()
    },
  }
}
