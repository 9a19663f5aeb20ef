const PAGE_BYTES = 16 * 1024

/**
 * The end of a log, each byte at its own place. It is kept in pages, so that a log in a million pieces takes no more room
 * than one in few; a byte that was written never changes, so readers may be handed the pages themselves.
 */
export class LogTape {
  readonly #mostPages: number
  readonly #wakes = new Set<() => void>()
  /** All but the last are full. */
  #pages: Buffer[] = []
  #first = 0
  #size = 0
  #isEnded = false

  /** More than this is never held, and never less than this but a page. */
  constructor(mostBytes: number) {
    this.#mostPages = Math.max(2, Math.floor(mostBytes / PAGE_BYTES))
  }

  /** All that was ever written, held or not. */
  get size(): number {
    return this.#size
  }

  /** The place of the oldest byte that is held. */
  get start(): number {
    return this.#first * PAGE_BYTES
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const used = this.#size % PAGE_BYTES
      if (used === 0) this.#turn()
      const part = bytes.subarray(at, at + PAGE_BYTES - used)
      this.#pages.at(-1)?.set(part, used)
      this.#size += part.length
      at += part.length
    }
    if (bytes.length > 0) this.#wakeAll()
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#wakeAll()
  }

  /** Some bytes from that place on, or from the oldest that is held; undefined when there are none yet. */
  read(from: number): { readonly at: number; readonly bytes: Uint8Array } | undefined {
    const at = Math.max(from, this.start)
    const page = this.#pages[Math.floor(at / PAGE_BYTES) - this.#first]
    if (at >= this.#size || page === undefined) return undefined
    const begin = at % PAGE_BYTES
    return { at, bytes: page.subarray(begin, Math.min(PAGE_BYTES, begin + this.#size - at)) }
  }

  /** Called when there is more, and when it has ended; the answer takes it back. */
  listen(wake: () => void): () => void {
    this.#wakes.add(wake)
    return () => void this.#wakes.delete(wake)
  }

  #turn(): void {
    this.#pages.push(Buffer.allocUnsafeSlow(PAGE_BYTES))
    if (this.#pages.length <= this.#mostPages) return
    this.#pages.shift()
    this.#first++
  }

  #wakeAll(): void {
    for (const wake of this.#wakes) wake()
  }
}
