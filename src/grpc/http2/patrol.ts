import { putPing } from './control-frames.ts'
import type { Http2Limits } from './limits.ts'
import type { Outbox } from './outbox.ts'
import type { Http2Stream } from './stream.ts'
import type { Timing } from './timing.ts'
import { ERROR } from './wire-format.ts'

/** The parts of a connection that the patrol checks. */
interface PatrolledConnection {
  readonly limits: Http2Limits
  readonly isOpen: boolean
  readonly streams: ReadonlyMap<number, Http2Stream>
  readonly outbox: Outbox
  close(code: number, reason: string, flood?: string): void
  resetStream(stream: Http2Stream, code: number): void
  touched(): void
}

/**
 * Checks a connection periodically: whether the peer has sent SETTINGS, whether it still answers, and whether it reads
 * the queued output. One timer serves all three.
 */
export class Patrol {
  readonly #connection: PatrolledConnection
  readonly #timing: Timing
  #cancel: () => void
  #pingedAt: number | undefined
  /** The time of the last frame of the peer. */
  heardAt: number

  /** Starts with the timeout of the handshake only. */
  constructor(connection: PatrolledConnection, timing: Timing) {
    this.#connection = connection
    this.#timing = timing
    this.heardAt = timing.now()
    this.#cancel = timing.after(connection.limits.handshakeMs, () =>
      connection.close(ERROR.settingsTimeout, 'no SETTINGS came in time', 'handshake'),
    )
  }

  /** Called when the peer has sent SETTINGS. */
  begin(): void {
    this.#cancel()
    this.#comeLater()
  }

  pingAnswered(): void {
    this.#pingedAt = undefined
  }

  end(): void {
    this.#cancel()
  }

  #comeLater(): void {
    const { keepaliveMs, keepaliveTimeoutMs, stallMs } = this.#connection.limits
    this.#cancel = this.#timing.after(Math.min(keepaliveMs, keepaliveTimeoutMs, stallMs), () => this.#come())
  }

  #come(): void {
    const connection = this.#connection
    if (!connection.isOpen) return
    const { keepaliveMs, keepaliveTimeoutMs, stallMs } = connection.limits
    const now = this.#timing.now()
    if (this.#pingedAt !== undefined && now - Math.max(this.#pingedAt, this.heardAt) >= keepaliveTimeoutMs) {
      return connection.close(ERROR.none, 'the peer did not answer a keepalive')
    }
    for (const stream of connection.streams.values()) {
      if (stream.pendingBytes === 0 || now - stream.progressAt < stallMs) continue
      connection.resetStream(stream, ERROR.cancel)
      stream.receiver?.onReset(ERROR.cancel, 'the peer took nothing for too long')
    }
    if (this.#pingedAt === undefined && now - this.heardAt >= keepaliveMs) this.#ping(now)
    this.#comeLater()
  }

  #ping(now: number): void {
    this.#pingedAt = now
    putPing(this.#connection.outbox)
    this.#connection.touched()
  }
}
