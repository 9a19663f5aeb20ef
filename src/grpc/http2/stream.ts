import type { HeaderList } from '../hpack/header-field.ts'
import type { Outbox } from './outbox.ts'
import { FRAME_TYPE, putFrameHeader } from './wire-format.ts'

/** Callbacks to the layer above. There are none after `onReset`, or after both sides have ended. */
export interface StreamReceiver {
  /** A response head (client) or trailers. */
  onHeaders(list: HeaderList, endStream: boolean): void
  /** A piece of the body, a view into the receive buffer. The receiver must call `stream.consume(n)` for its bytes. */
  onData(bytes: Uint8Array, endStream: boolean): void
  /** The stream ended early: the peer reset it or violated the protocol, or the connection was lost. */
  onReset(code: number, reason: string): void
  /** The queued output is below its limit again. */
  onDrained(): void
}

const NOTHING: readonly Uint8Array[] = []

/** The parts of a connection that its streams use. */
export interface StreamConnection {
  readonly limits: { readonly streamWindowBytes: number }
  readonly outbox: Outbox
  readonly turns: { isBehind(stream: Http2Stream): boolean; awaits(stream: Http2Stream): void }
  dataQueued(stream: Http2Stream, bytes: number): void
  localSideEnded(stream: Http2Stream): void
  released(bytes: number): void
  resetStream(stream: Http2Stream, code: number): void
  sendWindowUpdate(stream: number, increment: number): void
  writeHeaderBlock(stream: number, block: Uint8Array, endStream: boolean): void
}

/**
 * One stream: its two windows, its send queue and its receiver. Rules for the whole connection (order between streams,
 * the shared window) are in `connection.ts`.
 */
export class Http2Stream {
  readonly id: number
  readonly connection: StreamConnection
  receiver: StreamReceiver | undefined
  sendWindow: number
  receiveWindow: number
  /** Bytes that were consumed and not yet returned to the peer's window. */
  #owed = 0
  #windowTarget: number
  localClosed = false
  remoteClosed = false
  /** Both sides have ended, or the stream was reset: no frame may be sent any more. */
  gone = false
  /** The peer's content-length, which is compared with the received bytes; -1 without one. */
  expectedBytes = -1
  receivedBytes = 0
  /** Bytes delivered to the receiver and not yet consumed. */
  bufferedBytes = 0
  #parts: Uint8Array[] = NOTHING as Uint8Array[]
  #head = 0
  #headOffset = 0
  pendingBytes = 0
  #trailers: (() => Uint8Array) | undefined
  #endQueued = false
  /** Whether the stream is in the connection's ring of streams with something to send. */
  isReady = false
  /** The last time at which the peer read queued output; used to detect stalls. */
  progressAt = 0

  constructor(connection: StreamConnection, id: number, windows: { send: number; receive: number; target: number }) {
    this.connection = connection
    this.id = id
    this.sendWindow = windows.send
    this.receiveWindow = windows.receive
    this.#windowTarget = windows.target
  }

  /** Queues body bytes. They are copied only when they are sent, so the caller must not change them. */
  sendData(bytes: Uint8Array): void {
    if (this.gone || bytes.length === 0) return
    if (this.#parts === NOTHING) this.#parts = []
    this.#parts.push(bytes)
    this.pendingBytes += bytes.length
    this.connection.dataQueued(this, bytes.length)
  }

  /** Ends our side after the queued data: with trailers, which are encoded when they are sent, or with END_STREAM. */
  finish(trailers: (() => Uint8Array) | undefined): void {
    if (this.gone || this.#endQueued) return
    this.#endQueued = true
    this.#trailers = trailers
    this.connection.dataQueued(this, 0)
  }

  /** Whether the sender should wait; `onDrained` is called later. */
  get isBehind(): boolean {
    return this.connection.turns.isBehind(this)
  }

  /** Requests `onDrained` at the next flush after which the queue is below its limit. */
  awaitTurns(): void {
    this.connection.turns.awaits(this)
  }

  /** The receiver has consumed `bytes`: they no longer count as buffered, and the peer may send as many again. */
  consume(bytes: number): void {
    this.release(bytes)
    this.giveBack(bytes)
  }

  /** The bytes no longer count as memory of this stream. */
  release(bytes: number): void {
    if (this.gone) return
    this.bufferedBytes -= bytes
    this.connection.released(bytes)
  }

  /** Updates the stream's window, in steps of half a window. A stream that is read gets a larger window. */
  giveBack(bytes: number): void {
    if (this.gone || this.remoteClosed) return
    this.#owed += bytes
    if (this.#owed * 2 < this.#windowTarget) return
    const grown = Math.max(this.#windowTarget, this.connection.limits.streamWindowBytes)
    const increment = this.#owed + grown - this.#windowTarget
    this.#windowTarget = grown
    this.#owed = 0
    this.receiveWindow += increment
    this.connection.sendWindowUpdate(this.id, increment)
  }

  reset(code: number): void {
    if (!this.gone) this.connection.resetStream(this, code)
  }

  get canSend(): boolean {
    if (this.gone || this.localClosed) return false
    return this.pendingBytes > 0 ? this.sendWindow > 0 : this.#endQueued
  }

  /** Writes one DATA frame of at most `limit` bytes to the outbox, and ends the stream when the queue is empty. */
  sendSome(limit: number): number {
    const { outbox } = this.connection
    // A window may be negative, after the peer has reduced it.
    const size = Math.max(0, Math.min(this.pendingBytes, limit))
    if (size > 0) {
      const isLast = this.#endQueued && this.#trailers === undefined && size === this.pendingBytes
      outbox.reserve(size + 9)
      const start = putFrameHeader(outbox.buffer, outbox.end, size, (FRAME_TYPE.data << 8) | (isLast ? 1 : 0), this.id)
      this.#copyOut(outbox.buffer, start, size)
      outbox.end = start + size
      this.sendWindow -= size
      if (isLast) this.#ended()
    }
    if (this.pendingBytes === 0 && this.#endQueued && !this.localClosed) this.#sendEnd()
    return size
  }

  /** Drops the send queue and returns its size. */
  dropPending(): number {
    const dropped = this.pendingBytes
    this.#parts = NOTHING as Uint8Array[]
    this.#head = 0
    this.#headOffset = 0
    this.pendingBytes = 0
    return dropped
  }

  #copyOut(target: Uint8Array, offset: number, size: number): void {
    this.pendingBytes -= size
    while (size > 0) {
      const part = this.#parts[this.#head] as Uint8Array
      const take = Math.min(size, part.length - this.#headOffset)
      if (take === part.length) target.set(part, offset)
      else target.set(part.subarray(this.#headOffset, this.#headOffset + take), offset)
      offset += take
      size -= take
      this.#headOffset += take
      if (this.#headOffset === part.length) {
        this.#headOffset = 0
        this.#head++
      }
    }
    if (this.#head === this.#parts.length) {
      this.#parts.length = 0
      this.#head = 0
    } else if (this.#head > 256) {
      this.#parts.splice(0, this.#head)
      this.#head = 0
    }
  }

  #sendEnd(): void {
    if (this.#trailers !== undefined) this.connection.writeHeaderBlock(this.id, this.#trailers(), true)
    else {
      const { outbox } = this.connection
      outbox.reserve(9)
      outbox.end = putFrameHeader(outbox.buffer, outbox.end, 0, (FRAME_TYPE.data << 8) | 1, this.id)
    }
    this.#ended()
  }

  #ended(): void {
    this.localClosed = true
    this.connection.localSideEnded(this)
  }

  /** Whether the body is longer or shorter than its content-length. */
  lengthMismatch(endStream: boolean): boolean {
    if (this.expectedBytes < 0) return false
    return this.receivedBytes > this.expectedBytes || (endStream && this.receivedBytes !== this.expectedBytes)
  }
}
