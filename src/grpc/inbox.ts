import type { Http2Stream } from './http2/stream.ts'
import { MessageParser, PREFIX_BYTES } from './message-parser.ts'
import { GrpcError, STATUS } from './status.ts'

interface WaitingReader {
  resolve(message: Uint8Array | undefined): void
  reject(error: unknown): void
}

/**
 * The messages of a call that came and were not taken yet, for one reader.
 *
 * The stream's window is given back only while no complete message waits: a reader that takes nothing holds at most a
 * window and one message, however large messages are compared with the window.
 */
export class Inbox {
  readonly #stream: Http2Stream
  readonly #parser: MessageParser
  readonly #messages: Uint8Array[] = []
  /** Received and not yet given back to the stream's window. */
  #held = 0
  #ended = false
  #failure: unknown
  #reader: WaitingReader | undefined

  constructor(stream: Http2Stream, maxMessageBytes: number) {
    this.#stream = stream
    this.#parser = new MessageParser(maxMessageBytes)
  }

  /** Throws a GrpcError when the bytes are not a legal sequence of messages. */
  push(bytes: Uint8Array): void {
    this.#held += bytes.length
    this.#parser.push(bytes, this.#messages)
    if (this.#reader !== undefined && this.#messages.length > 0) this.#takeReader()?.resolve(this.#take())
    if (this.#messages.length === 0) this.#giveBack()
  }

  get count(): number {
    return this.#messages.length
  }

  /** Throws when the input ended inside a message. */
  end(): void {
    this.#ended = true
    if (!this.#parser.isBetweenMessages) throw new GrpcError(STATUS.internal, 'the input ended inside a message')
    this.#takeReader()?.resolve(undefined)
  }

  fail(error: unknown): void {
    this.#failure = error
    this.#messages.length = 0
    this.#takeReader()?.reject(error)
  }

  /** The oldest message, when one waits. */
  take(): Uint8Array | undefined {
    return this.#messages.length > 0 ? this.#take() : undefined
  }

  /** The same without taking it: its bytes go on counting as held. */
  peek(): Uint8Array | undefined {
    return this.#messages[0]
  }

  next(): Promise<Uint8Array | undefined> {
    if (this.#messages.length > 0) return Promise.resolve(this.#take())
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#ended) return Promise.resolve(undefined)
    if (this.#reader !== undefined) return Promise.reject(new Error('a call has one reader at a time'))
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
    })
  }

  #take(): Uint8Array {
    const message = this.#messages.shift() as Uint8Array
    this.#stream.release(message.length + PREFIX_BYTES)
    if (this.#messages.length === 0) this.#giveBack()
    return message
  }

  #takeReader(): WaitingReader | undefined {
    const reader = this.#reader
    this.#reader = undefined
    return reader
  }

  #giveBack(): void {
    if (this.#held === 0) return
    this.#stream.giveBack(this.#held)
    this.#held = 0
  }
}
