/** Counts writes that are under way, so that closing can wait for them. */
export interface PendingWrites {
  begin(): void
  done(): void
  /** Resolves when no write is under way. */
  idle(): Promise<void>
}

export function pendingWrites(): PendingWrites {
  let count = 0
  let waiting: (() => void)[] = []
  return {
    begin() {
      count++
    },
    done() {
      count--
      if (count > 0 || waiting.length === 0) return
      const resolved = waiting
      waiting = []
      for (const resolve of resolved) resolve()
    },
    async idle() {
      while (count > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}
