/** How many bytes from the end of a truncated stream are kept. */
const MOST_TAIL_BYTES = 64 * 1024

/**
 * Limits one stream of a process. The first bytes are forwarded as they arrive, up to the limit. After that only the
 * last bytes are kept. The process never blocks.
 */
export class OutputWindow {
  readonly #limit: number
  /** A ring buffer of the last bytes. Allocated at first use: most streams are short. */
  #ring: Buffer | undefined
  #passed = 0
  #dropped = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Returns the part to forward. */
  push(bytes: Uint8Array): Uint8Array | undefined {
    const room = this.#limit - this.#passed
    const now = bytes.length <= room ? bytes : bytes.subarray(0, room)
    this.#passed += now.length
    if (now.length < bytes.length) this.#keep(bytes.subarray(now.length))
    return now.length === 0 ? undefined : now
  }

  /** Bytes that were not forwarded, including those of the tail. */
  get dropped(): number {
    return this.#dropped
  }

  tail(): Uint8Array {
    const ring = this.#ring
    if (ring === undefined || ring.length === 0) return new Uint8Array(0)
    if (this.#dropped <= ring.length) return ring.subarray(0, this.#dropped)
    const at = this.#dropped % ring.length
    return Buffer.concat([ring.subarray(at), ring.subarray(0, at)])
  }

  #keep(bytes: Uint8Array): void {
    this.#ring ??= Buffer.allocUnsafeSlow(Math.min(MOST_TAIL_BYTES, Math.floor(this.#limit / 2)))
    const ring = this.#ring
    if (ring.length > 0) {
      const last = bytes.length > ring.length ? bytes.subarray(bytes.length - ring.length) : bytes
      const at = (this.#dropped + bytes.length - last.length) % ring.length
      const first = Math.min(last.length, ring.length - at)
      ring.set(last.subarray(0, first), at)
      ring.set(last.subarray(first), 0)
    }
    this.#dropped += bytes.length
  }
}
