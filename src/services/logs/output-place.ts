import type { OutputPiece } from '../../engine/tasks/output-ring.ts'

export interface Taken {
  /** Number of lost bytes before these; the reader is sent that number. */
  readonly missed: number
  readonly bytes: Uint8Array
}

/**
 * The offset of one reader in one output stream of a task. When a new attempt begins, the reader continues at the same
 * offset of its output, because most commands print the same text again. For a worker that does not send offsets, they
 * are known until bytes are lost.
 */
export class StreamPosition {
  readonly #stream: OutputPiece['stream']
  /** Offset of the next byte for the reader; undefined when it is no longer known. */
  #wanted: number | undefined
  /** Offset of the next piece, if the piece has none. */
  #printed: number | undefined = 0
  #attempt = 0

  constructor(stream: OutputPiece['stream'], wanted: number) {
    this.#stream = stream
    this.#wanted = wanted
  }

  get wanted(): number | undefined {
    return this.#wanted
  }

  /** Undefined when the piece has nothing new for this reader. */
  take({ stream, attempt, bytes, missed, at }: OutputPiece): Taken | undefined {
    if (attempt !== this.#attempt) {
      this.#attempt = attempt
      this.#printed = 0
    }
    // Missed bytes may belong to either stream.
    if (missed > 0) this.#printed = undefined
    if (stream !== this.#stream) return undefined
    const begin = at ?? this.#printed
    if (begin === undefined || this.#wanted === undefined) {
      this.#wanted = undefined
      return { missed, bytes }
    }
    const end = begin + bytes.length
    const gap = Math.max(0, begin - this.#wanted)
    const known = Math.max(0, this.#wanted - begin)
    this.#printed = end
    if (end <= this.#wanted) return undefined
    this.#wanted = end
    return { missed: gap, bytes: bytes.subarray(known) }
  }
}
