/** One call in progress: the unsent part of the request, and the received part of the answer. */
import { createHash } from 'node:crypto'
import type { Call } from './call.ts'

const GRPC_HEAD_BYTES = 5
/** The head of a ReadResponse with only data: the gRPC head, the tag and up to four bytes of length. */
const MOST_HEAD_BYTES = GRPC_HEAD_BYTES + 5

/** How an answer is checked: its bytes are counted, its data is hashed, or it is kept whole. */
export type Attention = 'count' | 'hash' | 'keep'

export class Exchange {
  readonly call: Call
  readonly stream: number
  readonly startedAt: number
  readonly attention: Attention
  /** Bytes that the server allows on this stream. */
  window: number
  unsent: number
  /** Bytes of DATA in the answer. */
  bytes = 0
  /** Bytes since the last window update of this stream. */
  unacknowledged = 0
  readonly #kept: Buffer[] = []
  readonly #sum: ReturnType<typeof createHash> | undefined
  readonly #head = Buffer.alloc(MOST_HEAD_BYTES)
  #headBytes = 0
  #skip = 0
  #payload = 0
  #piece = 0
  #at = 0

  constructor(call: Call, stream: number, { window, attention }: { window: number; attention: Attention }) {
    this.call = call
    this.stream = stream
    this.startedAt = performance.now()
    this.attention = attention
    if (attention === 'hash') this.#sum = createHash('sha256')
    this.window = window
    this.unsent = call.bytes
  }

  /** Returns the next bytes of the request, as views. */
  take(bytes: number): Buffer[] {
    const taken: Buffer[] = []
    this.unsent -= bytes
    for (let left = bytes; left > 0; ) {
      const piece = this.call.pieces[this.#piece] as Buffer
      const view = piece.subarray(this.#at, this.#at + left)
      taken.push(view)
      left -= view.length
      this.#at += view.length
      if (this.#at < piece.length) continue
      this.#piece++
      this.#at = 0
    }
    return taken
  }

  receive(bytes: Buffer): void {
    this.bytes += bytes.length
    this.unacknowledged += bytes.length
    if (this.attention === 'keep') this.#kept.push(Buffer.from(bytes))
    if (this.call.payloadBytes !== undefined) this.#count(bytes)
  }

  get body(): Buffer {
    return Buffer.concat(this.#kept)
  }

  /** The hash of the data, if it was hashed. */
  get hash(): string | undefined {
    return this.#sum?.digest('hex')
  }

  /** Bytes of data in the messages, if the call counts them. */
  get payloadBytes(): number | undefined {
    return this.call.payloadBytes === undefined ? undefined : this.#payload
  }

  /** Reads the head of every message, and skips the rest. */
  #count(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length) {
      const skipped = Math.min(this.#skip, bytes.length - at)
      if (skipped > 0) this.#sum?.update(bytes.subarray(at, at + skipped))
      at += skipped
      this.#skip -= skipped
      if (at === bytes.length) return
      this.#head[this.#headBytes++] = bytes[at++] as number
      if (this.#headBytes >= GRPC_HEAD_BYTES) this.#readHead()
    }
  }

  #readHead(): void {
    const length = this.#head.readUInt32BE(1)
    const seen = this.#headBytes - GRPC_HEAD_BYTES
    if (length === 0) this.#headBytes = 0
    if (length === 0 || seen < 2 || ((this.#head[this.#headBytes - 1] as number) & 0x80) !== 0) return
    if (this.#head[GRPC_HEAD_BYTES] !== ((10 << 3) | 2)) throw new Error('a ReadResponse has something beside its data')
    this.#skip = length - seen
    this.#payload += this.#skip
    this.#headBytes = 0
  }
}
