/**
 * Bytes that wait, in order. Large pieces are kept as they are; small ones are copied together, for a view of a few
 * bytes costs a hundred and keeps its whole receive buffer alive.
 */
const KEPT_BYTES = 16 * 1024
const BLOCK_BYTES = 4 * 1024

export class Stash {
  #pieces: Uint8Array[] = []
  #head = 0
  #at = 0
  /** The block at the end that is being filled, and how far. */
  #block: Buffer | undefined
  #filled = 0

  get isEmpty(): boolean {
    return this.#head === this.#pieces.length && this.#block === undefined
  }

  add(bytes: Uint8Array): void {
    if (bytes.length >= KEPT_BYTES) {
      this.#seal()
      this.#pieces.push(bytes)
      return
    }
    let at = 0
    while (at < bytes.length) {
      this.#block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES)
      const size = Math.min(bytes.length - at, BLOCK_BYTES - this.#filled)
      this.#block.set(bytes.subarray(at, at + size), this.#filled)
      this.#filled += size
      at += size
      if (this.#filled === BLOCK_BYTES) this.#seal()
    }
  }

  /** Lets `read` have the first piece, from where the last one stopped; it answers how far it got. */
  read(read: (bytes: Uint8Array, at: number) => number): void {
    if (this.#head === this.#pieces.length) this.#seal()
    const piece = this.#pieces[this.#head] as Uint8Array
    this.#at = read(piece, this.#at)
    if (this.#at < piece.length) return
    this.#at = 0
    if (++this.#head === this.#pieces.length) this.#clearRead()
  }

  clear(): void {
    this.#clearRead()
    this.#block = undefined
    this.#filled = 0
  }

  #clearRead(): void {
    this.#pieces = []
    this.#head = 0
    this.#at = 0
  }

  #seal(): void {
    if (this.#block === undefined) return
    this.#pieces.push(this.#block.subarray(0, this.#filled))
    this.#block = undefined
    this.#filled = 0
  }
}
