/**
 * The callbacks that are due, and the outcome of each delivery attempt. A callback is on the disk before its snippet is
 * accepted, so a crash of the server loses none; at worst one is sent twice.
 */
export interface DeliveryLog {
  /** Resolves when the entry is durable. */
  owe(task: string, at: number): Promise<void>
  tried(task: string, attempt: DeliveryTry): Promise<void>
  /** The receiver accepted the callback, or the server gave up: it sends nothing more. */
  settle(task: string, how: DeliveryEnd, at: number): Promise<void>
  /** The snippet was not accepted. */
  drop(task: string): Promise<void>
  of(task: string): CallbackDelivery | undefined
  /** The callbacks that are not settled, oldest first. */
  owed(): readonly string[]
  close(): Promise<void>
}

export const DELIVERY_ENDS = ['delivered', 'given-up'] as const
export type DeliveryEnd = (typeof DELIVERY_ENDS)[number]

export interface CallbackDelivery {
  readonly task: string
  readonly owedAt: number
  readonly state: 'pending' | DeliveryEnd
  readonly settledAt: number | undefined
  /** Sorted from the oldest to the newest. */
  readonly tries: readonly DeliveryTry[]
}

export interface DeliveryTry {
  readonly at: number
  /** The duration of the try. */
  readonly ms: number
  /** HTTP status of the answer; undefined without an answer. */
  readonly status: number | undefined
  /** Why the receiver did not accept it, as text. */
  readonly problem: string | undefined
}

/** How many settled callbacks are remembered. */
const MOST_SETTLED = 10_000

/** A log in memory only: it is lost with the process. */
export function memoryDeliveryLog(mostSettled = MOST_SETTLED): DeliveryLog {
  const open = new Map<string, CallbackDelivery>()
  const settled = new Map<string, CallbackDelivery>()
  return {
    async owe(task, at) {
      if (!open.has(task)) open.set(task, { task, owedAt: at, state: 'pending', settledAt: undefined, tries: [] })
    },
    async tried(task, attempt) {
      const one = open.get(task)
      if (one !== undefined) open.set(task, { ...one, tries: [...one.tries, attempt] })
    },
    async settle(task, how, at) {
      const one = open.get(task)
      if (one === undefined) return
      open.delete(task)
      settled.set(task, { ...one, state: how, settledAt: at })
      const oldest = settled.size > mostSettled ? settled.keys().next().value : undefined
      if (oldest !== undefined) settled.delete(oldest)
    },
    async drop(task) {
      open.delete(task)
    },
    of: (task) => open.get(task) ?? settled.get(task),
    owed: () => [...open.keys()],
    async close() {},
  }
}
