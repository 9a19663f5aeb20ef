import type { Http2Stream } from './http2/stream.ts'
import { PREFIX_BYTES, putPrefix } from './message-parser.ts'

/** The outgoing messages of a call, for one writer. */
export class MessageOutlet {
  readonly #stream: Http2Stream
  #waiting: { resolve(): void; reject(error: unknown): void; untilSent: boolean } | undefined
  #failure: unknown
  bytes = 0

  constructor(stream: Http2Stream) {
    this.#stream = stream
  }

  /** Queues a message. Returns false when the peer is behind. */
  write(message: Uint8Array | readonly Uint8Array[]): boolean {
    const parts = message instanceof Uint8Array ? [message] : message
    let length = 0
    for (const part of parts) length += part.length
    const prefix = Buffer.allocUnsafe(PREFIX_BYTES)
    putPrefix(prefix, 0, length)
    this.bytes += length + PREFIX_BYTES
    this.#stream.sendData(prefix)
    for (const part of parts) this.#stream.sendData(part)
    return !this.#stream.isBehind
  }

  drained(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#stream.gone || !this.#stream.isBehind) return Promise.resolve()
    return this.#wait(false)
  }

  sent(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#stream.gone || this.#stream.pendingBytes === 0) return Promise.resolve()
    this.#stream.awaitTurns()
    return this.#wait(true)
  }

  #wait(untilSent: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject, untilSent }
    })
  }

  onDrained(): void {
    if (this.#waiting?.untilSent === true && this.#stream.pendingBytes > 0) return this.#stream.awaitTurns()
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  fail(error: unknown): void {
    this.#failure = error
    this.#waiting?.reject(error)
    this.#waiting = undefined
  }
}
