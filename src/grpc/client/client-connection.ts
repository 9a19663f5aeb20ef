import type { Duplex } from 'node:stream'
import type { HeaderPair } from '../header-text.ts'
import { encodedBound, HpackEncoder } from '../hpack/encoder.ts'
import { Http2Connection } from '../http2/connection.ts'
import type { ConnectionEnd, ConnectionHost } from '../http2/connection-host.ts'
import type { Http2Limits } from '../http2/limits.ts'
import type { Timing } from '../http2/timing.ts'
import { ERROR } from '../http2/wire-format.ts'
import type { TimerWheel } from '../timer-wheel.ts'
import { ClientStream, type ClientStreamOptions } from './client-call.ts'

export interface ClientConnectionOptions {
  readonly socket: Duplex
  readonly limits: Http2Limits
  readonly timing: Timing
  readonly wheel: TimerWheel
  /** Called when the number of free streams may have changed. */
  onChange(): void
  onClosed(end: ConnectionEnd): void
}

/** Calls on one connection to a server. */
export class ClientConnection implements ConnectionHost {
  readonly limits: Http2Limits
  readonly wheel: TimerWheel
  readonly hasParked = false
  readonly budget = { used: 0, most: Number.POSITIVE_INFINITY }
  readonly #http2: Http2Connection
  readonly #encoder = new HpackEncoder()
  readonly #options: ClientConnectionOptions
  #isGoing = false

  constructor(options: ClientConnectionOptions) {
    this.#options = options
    this.limits = options.limits
    this.wheel = options.wheel
    const { socket, limits, timing } = options
    this.#http2 = new Http2Connection({ socket, role: 'client', limits, timing, host: this })
  }

  /** Whether a new call can start now. Always false before the server has sent its stream limit. */
  get hasRoom(): boolean {
    return this.isUsable && this.isGreeted && this.#http2.streams.size < this.#http2.peer.maxConcurrentStreams
  }

  get isGreeted(): boolean {
    return this.#http2.isGreeted
  }

  get isUsable(): boolean {
    return this.#http2.isOpen && !this.#isGoing && !this.#http2.idsAreUsedUp
  }

  open(head: readonly HeaderPair[], options: ClientStreamOptions): ClientStream {
    const stream = this.#http2.openStream()
    const call = new ClientStream(this, stream, options)
    const block = Buffer.allocUnsafe(encodedBound(head))
    this.#http2.writeHeaderBlock(stream.id, block.subarray(0, this.#encoder.encode(head, block, 0)), false)
    return call
  }

  onStream(): void {
    // Servers open no streams: push is off.
  }

  onPeerSettings(): void {
    this.#encoder.setMaxTableBytes(this.#http2.peer.headerTableSize)
    this.#options.onChange()
  }

  onGoaway(lastStream: number): void {
    this.#isGoing = true
    for (const stream of [...this.#http2.streams.values()]) {
      if (stream.id > lastStream) (stream.receiver as ClientStream).turnedAway()
    }
    this.#options.onChange()
  }

  onStreamGone(): void {
    this.#options.onChange()
  }

  onRoom(): void {}

  onClosed(end: ConnectionEnd): void {
    this.#options.onClosed(end)
  }

  close(): void {
    this.#http2.close(ERROR.none, 'the channel was closed')
  }
}
