/** Of the newest leases that ended, so many: a late report comes within minutes, and each entry is about 100 bytes. */
const MOST_FORMER = 16_384

/**
 * Leases that ended without their worker's report, and who held them. A late report is recorded beside its task only
 * when it comes from the former holder: any caller can name a task and a fencing number, and must not be able to write
 * into the journal with them.
 */
export class FormerLeases {
  readonly #holders = new Map<string, string>()

  add(attemptId: string, worker: string): void {
    this.#holders.set(attemptId, worker)
    if (this.#holders.size <= MOST_FORMER) return
    const [oldest] = this.#holders.keys()
    if (oldest !== undefined) this.#holders.delete(oldest)
  }

  /** True once for each lease: repeats of the same late report are not recorded again. */
  take(attemptId: string, worker: string): boolean {
    return this.#holders.get(attemptId) === worker && this.#holders.delete(attemptId)
  }
}
