/**
 * Which callbacks are owed, and what came of each try. What a snippet owes is on the disk before the snippet is accepted,
 * so that no end of this process, whatever it is, loses a callback; at worst one is sent twice.
 */
export interface DeliveryLog {
  /** Resolves when it cannot be lost any more. */
  owe(task: string, at: number): Promise<void>
  tried(task: string, attempt: DeliveryTry): Promise<void>
  /** Nothing more will be sent: it was taken, or given up. */
  settle(task: string, how: DeliveryEnd, at: number): Promise<void>
  /** There never was such a snippet. */
  drop(task: string): Promise<void>
  of(task: string): CallbackDelivery | undefined
  /** Not settled, the oldest first. */
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
  /** The oldest first. */
  readonly tries: readonly DeliveryTry[]
}

export interface DeliveryTry {
  readonly at: number
  /** How long it took. */
  readonly ms: number
  /** HTTP status of the answer; undefined without an answer. */
  readonly status: number | undefined
  /** In words, when it was not taken. */
  readonly problem: string | undefined
}

/** Settled ones that are remembered. */
const MOST_SETTLED = 10_000

/** For as long as this process lives. */
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
