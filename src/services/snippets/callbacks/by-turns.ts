export interface SendingTurns<T> {
  add(host: string, one: T): void
  /** Starts no more jobs. */
  close(): void
}

/** Runs a limited number of jobs at once, and fewer per host: a slow host delays no other host. */
export function byTurns<T>(
  { mostAtOnce, mostPerHost }: { readonly mostAtOnce: number; readonly mostPerHost: number },
  act: (one: T, host: string) => Promise<void>,
): SendingTurns<T> {
  const waiting: { host: string; one: T }[] = []
  const byHost = new Map<string, number>()
  let busy = 0
  let isClosed = false

  const begin = async ({ host, one }: { host: string; one: T }): Promise<void> => {
    busy++
    byHost.set(host, (byHost.get(host) ?? 0) + 1)
    try {
      await act(one, host)
    } finally {
      busy--
      const left = (byHost.get(host) ?? 1) - 1
      if (left > 0) byHost.set(host, left)
      else byHost.delete(host)
      next()
    }
  }
  const next = (): void => {
    while (busy < mostAtOnce && !isClosed) {
      const at = waiting.findIndex(({ host }) => (byHost.get(host) ?? 0) < mostPerHost)
      const [one] = at < 0 ? [] : waiting.splice(at, 1)
      if (one === undefined) return
      void begin(one)
    }
  }
  return {
    add(host, one) {
      waiting.push({ host, one })
      next()
    },
    close() {
      isClosed = true
      waiting.length = 0
    },
  }
}
