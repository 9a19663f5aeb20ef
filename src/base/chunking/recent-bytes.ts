/** The last bytes of a stream, by their offset in it: a ring, so that keeping them is one copy. */
export class RecentBytes {
  readonly #ring: Uint8Array

  constructor(capacity: number) {
    this.#ring = new Uint8Array(capacity)
  }

  /** Keeps bytes that lie at `offset`; never more at once than the ring holds. */
  keep(bytes: Uint8Array, offset: number): void {
    const at = offset % this.#ring.length
    const straight = bytes.subarray(0, this.#ring.length - at)
    this.#ring.set(straight, at)
    this.#ring.set(bytes.subarray(straight.length), 0)
  }

  /** The bytes from `from` to `to`, which must still be in the buffer, in one or two views. */
  views(from: number, to: number): readonly Uint8Array[] {
    const at = from % this.#ring.length
    const straight = this.#ring.subarray(at, at + to - from)
    const wrapped = to - from - straight.length
    return wrapped > 0 ? [straight, this.#ring.subarray(0, wrapped)] : [straight]
  }
}
