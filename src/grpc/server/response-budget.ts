import type { Http2Connection } from '../http2/connection.ts'

/** A call that waits for budget: to start, or for a response of this size. */
export interface BudgetWaiter {
  /** The requested bytes; 0 for a call that waits to start. */
  readonly wantedBytes: number
  onRoom(): void
}

/**
 * Limits the bytes of responses that the handlers of one connection prepare. Flow control already limits the bytes that
 * handlers have written; without this budget, hundreds of handlers could each fetch a large response for a peer that
 * reads nothing. A handler asks for budget before it fetches bulk data. Waiting handlers are served first come, first
 * served.
 */
export class ResponseBudget {
  readonly #http2: Http2Connection
  readonly #line = new Set<BudgetWaiter>()
  #promised = 0

  constructor(http2: Http2Connection) {
    this.#http2 = http2
  }

  /** Returns true when the budget is granted at once; otherwise `onRoom` is called later. */
  take(seeker: BudgetWaiter, bytes: number): boolean {
    if (this.#line.size === 0 && this.#fits(bytes)) {
      this.#promised += bytes
      return true
    }
    this.#line.add(seeker)
    return false
  }

  /** Called when the response was written, or will never be. */
  giveBack(bytes: number): void {
    this.#promised -= bytes
    if (this.#line.size > 0) this.#http2.touched()
  }

  waitToBegin(seeker: BudgetWaiter): void {
    this.#line.add(seeker)
  }

  leave(seeker: BudgetWaiter): void {
    this.#line.delete(seeker)
  }

  clear(): void {
    this.#line.clear()
  }

  get hasWaiting(): boolean {
    return this.#line.size > 0
  }

  /** Grants budget to waiting calls; called when bytes were sent or returned. */
  letIn(): void {
    for (const seeker of this.#line) {
      const { wantedBytes } = seeker
      if (wantedBytes === 0 ? this.#http2.turns.isCongested : !this.#fits(wantedBytes)) return
      this.#line.delete(seeker)
      this.#promised += wantedBytes
      seeker.onRoom()
    }
  }

  /** A response larger than the whole budget is sent alone. */
  #fits(bytes: number): boolean {
    const { turns, outbox, limits } = this.#http2
    const held = this.#promised + turns.pendingBytes + outbox.backlog
    return held === 0 || held + bytes <= limits.connectionRoomBytes
  }
}
