import type { Http2Stream } from './http2/stream.ts'
import { MessageParser, PREFIX_BYTES } from './message-parser.ts'
import { Stash } from './stash.ts'
import { GrpcError, STATUS } from './status.ts'

interface WaitingReader {
  resolve(message: Uint8Array | undefined): void
  reject(error: unknown): void
}

/**
 * The received messages of a call that its one reader has not read yet.
 *
 * At most one message is parsed ahead. The bytes behind it stay raw, so that a peer cannot create many small objects
 * with few bytes. The stream's window is updated only while no complete message waits: so a reader that reads nothing
 * stores at most a window and one message, even if messages are larger than the window.
 */
export class Inbox {
  readonly #stream: Http2Stream
  readonly #parser: MessageParser
  readonly #stash = new Stash()
  #ready: Uint8Array | undefined
  /** The last message that the reader got. */
  #given: Uint8Array | undefined
  /** Bytes received and not yet returned to the stream's window. */
  #held = 0
  #ended = false
  #failure: unknown
  #reader: WaitingReader | undefined

  /** With `reuses`, the memory of a message is reused when the reader requests the next one. */
  constructor(stream: Http2Stream, maxMessageBytes: number, reuses = false) {
    this.#stream = stream
    this.#parser = new MessageParser(maxMessageBytes, reuses)
  }

  /** Adds received bytes. Throws a GrpcError when they are not a legal sequence of messages. */
  push(bytes: Uint8Array): void {
    this.#held += bytes.length
    let at = 0
    if (this.#stash.isEmpty) while (at < bytes.length && this.#ready === undefined) at = this.#read(bytes, at)
    if (at < bytes.length) this.#stash.add(bytes.subarray(at))
    if (this.#ready === undefined) this.#giveBack()
  }

  /** Whether a complete message waits, and more bytes have arrived behind it. */
  get hasMoreThanOne(): boolean {
    return this.#ready !== undefined && !(this.#stash.isEmpty && this.#parser.isBetweenMessages)
  }

  /** Ends the input. Throws when it ended inside a message; if messages are still unread, `next` throws later. */
  end(): void {
    this.#ended = true
    this.#checkEnd()
    if (this.#failure !== undefined) throw this.#failure
    if (this.#ready === undefined) this.#takeReader()?.resolve(undefined)
  }

  fail(error: unknown): void {
    this.#failure = error
    this.#ready = undefined
    this.#stash.clear()
    this.#takeReader()?.reject(error)
  }

  /** Called when the reader needs no more messages. */
  release(): void {
    this.#releaseGiven()
    if (this.#ready !== undefined) this.#parser.release(this.#ready)
    this.#ready = undefined
  }

  /** Returns the only message of an input that has ended. Its bytes still count as unread. */
  sole(): Uint8Array {
    if (this.#ready === undefined) throw new GrpcError(STATUS.internal, 'expected one message, got none')
    if (this.hasMoreThanOne) throw new GrpcError(STATUS.internal, 'expected one message, got more')
    return this.#ready
  }

  next(): Promise<Uint8Array | undefined> {
    this.#releaseGiven()
    if (this.#ready !== undefined) return Promise.resolve(this.#take(this.#ready))
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#ended) return Promise.resolve(undefined)
    if (this.#reader !== undefined) return Promise.reject(new Error('a call has one reader at a time'))
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
    })
  }

  /** Parses on. A message is passed to the waiting reader, or kept for the next read. */
  #read(bytes: Uint8Array, at: number): number {
    const next = this.#parser.parse(bytes, at)
    const { message } = this.#parser
    if (message === undefined) return next
    const reader = this.#takeReader()
    if (reader === undefined) this.#ready = message
    else {
      this.#given = message
      this.#stream.release(message.length + PREFIX_BYTES)
      reader.resolve(message)
    }
    return next
  }

  #take(message: Uint8Array): Uint8Array {
    this.#ready = undefined
    this.#given = message
    this.#stream.release(message.length + PREFIX_BYTES)
    try {
      while (!this.#stash.isEmpty && this.#ready === undefined) this.#stash.read((bytes, at) => this.#read(bytes, at))
      this.#checkEnd()
    } catch (error) {
      this.#failure = error
    }
    if (this.#ready === undefined) this.#giveBack()
    return message
  }

  #checkEnd(): void {
    if (!this.#ended || !this.#stash.isEmpty || this.#parser.isBetweenMessages) return
    this.#failure = new GrpcError(STATUS.internal, 'the input ended inside a message')
  }

  #releaseGiven(): void {
    if (this.#given !== undefined) this.#parser.release(this.#given)
    this.#given = undefined
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
