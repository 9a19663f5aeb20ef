const MEMORY = 4096

/**
 * Streams that we ended before the peer did: frames of the peer on them are no error. Only the newest MEMORY are kept.
 */
export class DiscardedStreams {
  readonly #ids = new Set<number>()

  add(id: number): void {
    this.#ids.add(id)
    if (this.#ids.size <= MEMORY) return
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest)
      return
    }
  }

  has(id: number): boolean {
    return this.#ids.has(id)
  }
}
