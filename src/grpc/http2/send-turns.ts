import type { Http2Limits } from './limits.ts'
import type { Outbox } from './outbox.ts'
import type { PeerSettings } from './settings.ts'
import type { Http2Stream } from './stream.ts'
import { DEFAULT_WINDOW } from './wire-format.ts'

/** The most bytes of a DATA frame, even if the peer accepts more, because a turn should be short. */
const MAX_FRAME_BYTES = 64 * 1024

/**
 * Decides which stream sends data next. Streams with data and an open window form a ring and take turns, one frame
 * each, while the connection's window is open and less than `socketBacklogBytes` waits in the socket. A faster writer
 * must wait; it is woken when half of the queued bytes are sent.
 */
export class SendTurns {
  readonly #outbox: Outbox
  readonly #limits: Http2Limits
  readonly #peer: PeerSettings
  readonly #ready: Http2Stream[] = []
  readonly #waiting = new Set<Http2Stream>()
  /** The send window of the whole connection. */
  window = DEFAULT_WINDOW
  /** Data queued by all streams and not yet written. */
  pendingBytes = 0

  constructor(outbox: Outbox, limits: Http2Limits, peer: PeerSettings) {
    this.#outbox = outbox
    this.#limits = limits
    this.#peer = peer
  }

  /** Whether `dataBytes` of this stream can be sent now, in one frame, without waiting behind other streams. */
  hasRoomFor(stream: Http2Stream, dataBytes: number): boolean {
    return (
      dataBytes <= this.#peer.maxFrameSize &&
      dataBytes <= MAX_FRAME_BYTES &&
      dataBytes <= this.window &&
      dataBytes <= stream.sendWindow &&
      stream.pendingBytes === 0 &&
      this.#outbox.backlog < this.#limits.socketBacklogBytes
    )
  }

  get isCongested(): boolean {
    return this.pendingBytes >= this.#limits.connectionPendingBytes
  }

  /** Returns true when this stream's writer should wait; `onDrained` wakes it. */
  isBehind(stream: Http2Stream): boolean {
    const behind = stream.pendingBytes >= this.#limits.streamPendingBytes || this.isCongested
    if (behind) this.#waiting.add(stream)
    return behind
  }

  awaits(stream: Http2Stream): void {
    this.#waiting.add(stream)
  }

  /** Adds the stream to the ring if it has something to send and may send. */
  join(stream: Http2Stream): void {
    if (stream.isReady || !stream.canSend) return
    stream.isReady = true
    this.#ready.push(stream)
  }

  leave(stream: Http2Stream): void {
    if (stream.pendingBytes > 0) this.pendingBytes -= stream.dropPending()
    if (this.#waiting.size > 0) this.#waiting.delete(stream)
  }

  pump(now: number): void {
    const ready = this.#ready
    let blocked = 0
    while (ready.length > blocked && this.#outbox.backlog < this.#limits.socketBacklogBytes) {
      const stream = ready.shift() as Http2Stream
      if (stream.pendingBytes > 0 && this.window <= 0) {
        ready.push(stream)
        blocked++
        continue
      }
      stream.isReady = false
      if (stream.canSend) this.#sendFrom(stream, now)
    }
  }

  wakeWaiting(): void {
    if (this.#waiting.size === 0 || this.pendingBytes * 2 > this.#limits.connectionPendingBytes) return
    for (const stream of [...this.#waiting]) {
      if (stream.pendingBytes * 2 > this.#limits.streamPendingBytes) continue
      this.#waiting.delete(stream)
      stream.receiver?.onDrained()
    }
  }

  #sendFrom(stream: Http2Stream, now: number): void {
    const sent = stream.sendSome(Math.min(this.window, stream.sendWindow, this.#peer.maxFrameSize, MAX_FRAME_BYTES))
    this.window -= sent
    this.pendingBytes -= sent
    stream.progressAt = now
    this.join(stream)
  }
}
