import type { WorkerSession } from '../../engine/workers/worker-session.ts'

type StopWhy = Parameters<WorkerSession['stop']>[1]

/** Limit for a worker that never confirms cancellations. */
const MOST_CANCELLED = 10_000
/** Ours are far shorter. What a worker made up is not kept for it. */
const LONGEST_ID = 256

/**
 * Attempts of a worker that does not list them. Its heartbeats renew all of them; a lease that was lost on its way
 * would be renewed for ever and never run. So an attempt that has not begun when its lease expires counts as lost.
 */
export class HeldAttempts {
  /** With what it has from before. */
  constructor(running: readonly string[] = []) {
    for (const id of running) this.#held.set(id, { expiresAt: 0, isBegun: true })
  }

  readonly #held = new Map<string, { readonly expiresAt: number; isBegun: boolean }>()
  readonly #cancelled = new Set<string>()

  given(attemptId: string, expiresAt: number): void {
    this.#held.set(attemptId, { expiresAt, isBegun: false })
  }

  begun(attemptId: string): void {
    const held = this.#held.get(attemptId)
    if (held !== undefined) held.isBegun = true
  }

  ended(attemptId: string): void {
    this.#held.delete(attemptId)
    this.#cancelled.delete(attemptId)
  }

  /** Repeated with every heartbeat until the attempt has ended. A superseded attempt is not renewed. */
  cancel(attemptId: string, why: StopWhy): void {
    if (why !== 'cancelled') this.#held.delete(attemptId)
    if (attemptId.length > LONGEST_ID) return
    this.#cancelled.add(attemptId)
    const [oldest] = this.#cancelled
    if (this.#cancelled.size > MOST_CANCELLED && oldest !== undefined) this.#cancelled.delete(oldest)
  }

  /** The attempts that a heartbeat renews; `listed` are those that it names. */
  renewedBy(listed: readonly string[] | undefined, now: number): readonly string[] {
    if (listed !== undefined) {
      const known = new Set(listed)
      for (const id of [...this.#held.keys(), ...this.#cancelled]) if (!known.has(id)) this.ended(id)
      return listed
    }
    for (const [id, { expiresAt, isBegun }] of this.#held) if (!isBegun && expiresAt < now) this.ended(id)
    return [...this.#held.keys()]
  }

  get toCancel(): readonly string[] {
    return [...this.#cancelled]
  }
}
