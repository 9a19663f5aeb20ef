import type { WorkerSession } from '../../engine/workers/worker-session.ts'

type StopWhy = Parameters<WorkerSession['stop']>[1]

/** Of a worker that never confirms: it has had its chance. */
const MOST_CANCELLED = 10_000
/** Ours are far shorter. What a worker made up is not kept for it. */
const LONGEST_ID = 256

/**
 * What a worker that does not list its attempts was given. Its heartbeats renew everything; a lease that got lost on its
 * way would then be renewed for ever and never run. So what was not begun by the time that its lease was to expire is
 * taken for lost.
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

  /** To be told with every heartbeat, until it has ended. What nobody wants any more is not renewed either. */
  cancel(attemptId: string, why: StopWhy): void {
    if (why !== 'cancelled') this.#held.delete(attemptId)
    if (attemptId.length > LONGEST_ID) return
    this.#cancelled.add(attemptId)
    const [oldest] = this.#cancelled
    if (this.#cancelled.size > MOST_CANCELLED && oldest !== undefined) this.#cancelled.delete(oldest)
  }

  /** What a heartbeat stands for; `listed` is what it says itself. */
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
