/** What is kept of the end of a stream that is too long: enough to see how it ended. */
const MOST_TAIL_BYTES = 64 * 1024

/**
 * One stream of a process, however much it writes: the first bytes are passed on as they come, up to the limit; of what
 * follows only the last are kept. The process is never made to wait.
 */
export class OutputWindow {
  readonly #limit: number
  /** Of the last bytes, written round and round. Made when first needed: most streams never are too long. */
  #ring: Buffer | undefined
  #passed = 0
  #dropped = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Answers the part that is to be passed on. */
  push(bytes: Uint8Array): Uint8Array | undefined {
    const room = this.#limit - this.#passed
    const now = bytes.length <= room ? bytes : bytes.subarray(0, room)
    this.#passed += now.length
    if (now.length < bytes.length) this.#keep(bytes.subarray(now.length))
    return now.length === 0 ? undefined : now
  }

  /** Bytes that were not passed on, those of the tail included. */
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
