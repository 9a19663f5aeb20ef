import type { WebSocket } from 'ws'
import type { Clock } from '../../base/clock.ts'
import type { OutputListener, OutputPiece } from '../../engine/tasks/output-ring.ts'
import type { OutputFrame } from './printed.ts'

export interface PacedOutputOptions {
  readonly socket: WebSocket
  readonly clock: Clock
  readonly stallMs: number
  readonly framesOf: (piece: OutputPiece) => Iterable<OutputFrame>
  /** Called when all output so far has been sent. */
  readonly emptied: () => void
}

/** The limit of bytes in the socket's send buffer. Beyond it, output stays in the engine's ring, which is bounded. */
const MOST_UNSENT_BYTES = 256 * 1024

/** Sends the output of a program as fast as its client reads. A client that reads nothing is disconnected. */
export class PacedOutput {
  readonly #options: PacedOutputOptions
  #listener: OutputListener | undefined
  #forgetStall: (() => void) | undefined
  #isClosed = false

  constructor(options: PacedOutputOptions) {
    this.#options = options
  }

  from(listener: OutputListener | undefined): void {
    this.#listener = listener
  }

  /** True when no output follows the unread part; undefined without a listener. */
  get isEnded(): boolean | undefined {
    return this.#listener?.isEnded
  }

  print(): void {
    if (this.#isClosed) return
    const { socket, clock, stallMs, framesOf, emptied } = this.#options
    while (socket.bufferedAmount < MOST_UNSENT_BYTES) {
      const piece = this.#listener?.next()
      if (piece === undefined) return emptied()
      for (const frame of framesOf(piece)) socket.send(frame, this.#sent)
    }
    this.#forgetStall ??= clock.after(stallMs, () => socket.terminate())
  }

  close(): void {
    this.#isClosed = true
    this.#forgetStall?.()
    this.#listener?.close()
  }

  /** Called when the socket has sent a message: continues if the buffer has space again. */
  readonly #sent = (): void => {
    if (this.#forgetStall === undefined || this.#options.socket.bufferedAmount >= MOST_UNSENT_BYTES) return
    this.#forgetStall()
    this.#forgetStall = undefined
    this.print()
  }
}
