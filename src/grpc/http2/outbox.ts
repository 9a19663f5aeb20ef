import type { Duplex } from 'node:stream'

/**
 * Where frames are laid out before they reach the socket.
 *
 * All frames that one read gives rise to are written into one slab and leave with one `write`. Slabs come from a pool
 * shared by all connections: a connection holds one only while it has bytes on their way, so ten thousand idle
 * connections cost nothing. No callback per write is needed to know when a slab is free again: once the socket's
 * `writableLength` is 0, everything handed over has been taken by the kernel (or by TLS).
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
  /** The slab to write into, at `end`, after `reserve`. */
  buffer: Buffer = NO_SLAB
  end = 0

  constructor(socket: Duplex) {
    this.#socket = socket
  }

  /** Reserves `bytes` in one piece; `buffer` and `end` then give its place. */
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

  /** Bytes written and not yet taken by the kernel. */
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

  /** Drops everything, for a closed socket; the slabs are not reused, since the socket may still hold them. */
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
