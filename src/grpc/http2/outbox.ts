import type { Duplex } from 'node:stream'

/**
 * Buffers frames before they are written to the socket.
 *
 * All frames that result from one read are put in one slab and sent with one `write`. Slabs come from a pool of all
 * connections. A connection has one only while it has unsent bytes, so 10,000 idle connections cost nothing. No
 * callback per write is needed to know when a slab is free: when the socket's `writableLength` is 0, the kernel (or
 * TLS) has accepted all bytes.
 */
const SLAB_BYTES = 256 * 1024
const POOL_SLABS = 64
const pool: Buffer[] = []

const takeSlab = (bytes: number): Buffer =>
  bytes > SLAB_BYTES ? Buffer.allocUnsafeSlow(bytes) : (pool.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES))

const returnSlab = (slab: Buffer): void => {
  if (slab.length === SLAB_BYTES && pool.length < POOL_SLABS) pool.push(slab)
}

const NO_SLAB = Buffer.alloc(0)

export class Outbox {
  readonly #socket: Duplex
  #slab: Buffer = NO_SLAB
  #start = 0
  #busy: Buffer[] = []
  /** The slab for new frames, at `end`, after `reserve`. */
  buffer: Buffer = NO_SLAB
  end = 0

  constructor(socket: Duplex) {
    this.#socket = socket
  }

  /** Reserves `bytes` in one piece, at `end` of `buffer`. */
  reserve(bytes: number): void {
    if (this.end + bytes <= this.#slab.length) return
    this.flush()
    if (this.end + bytes <= this.#slab.length) return
    if (this.#slab.length > 0) this.#busy.push(this.#slab)
    this.#slab = takeSlab(bytes)
    this.buffer = this.#slab
    this.#start = 0
    this.end = 0
  }

  /** Bytes that are written and not yet accepted by the kernel. */
  get backlog(): number {
    return this.#socket.writableLength + this.end - this.#start
  }

  flush(): void {
    if (this.end > this.#start) {
      this.#socket.write(this.#slab.subarray(this.#start, this.end))
      this.#start = this.end
    }
    if (this.#socket.writableLength === 0) this.#release()
  }

  /** Discards all bytes of a closed socket. The slabs are not reused, because the socket may still use them. */
  abandon(): void {
    this.#slab = NO_SLAB
    this.#busy = []
    this.#release()
  }

  #release(): void {
    if (this.#slab.length > 0) returnSlab(this.#slab)
    for (const slab of this.#busy) returnSlab(slab)
    if (this.#busy.length > 0) this.#busy = []
    this.#slab = NO_SLAB
    this.buffer = NO_SLAB
    this.#start = 0
    this.end = 0
  }
}
