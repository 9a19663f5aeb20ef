const PAGE_BYTES = 16 * 1024

/**
 * The last bytes of a log, by offset. They are stored in pages, so that a log of a million small pieces takes no more
 * memory than a log of few large ones. A written byte never changes, so readers get views of the pages.
 */
export class LogTape {
  readonly #mostPages: number
  readonly #wakes = new Set<() => void>()
  /** All pages except the last are full. */
  #pages: Buffer[] = []
  #first = 0
  #size = 0
  #isEnded = false

  /** The limit of held bytes; at least this minus one page is held. */
  constructor(mostBytes: number) {
    this.#mostPages = Math.max(2, Math.floor(mostBytes / PAGE_BYTES))
  }

  /** The bytes written so far, held or dropped. */
  get size(): number {
    return this.#size
  }

  /** The offset of the oldest byte that is held. */
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

  /** Returns the bytes from that offset on, or from the oldest held byte; undefined when there are none yet. */
  read(from: number): { readonly at: number; readonly bytes: Uint8Array } | undefined {
    const at = Math.max(from, this.start)
    const page = this.#pages[Math.floor(at / PAGE_BYTES) - this.#first]
    if (at >= this.#size || page === undefined) return undefined
    const begin = at % PAGE_BYTES
    return { at, bytes: page.subarray(begin, Math.min(PAGE_BYTES, begin + this.#size - at)) }
  }

  /** Calls the listener after each write and at the end; the returned function removes it. */
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
