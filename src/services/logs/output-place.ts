import type { OutputPiece } from '../../engine/tasks/output-ring.ts'

export interface Taken {
  /** Number of lost bytes before these; the reader is sent that number. */
  readonly missed: number
  readonly bytes: Uint8Array
}

/**
 * Where one reader stands in what an attempt prints on one stream. Places are those of the attempt that counts in the
 * end: when another attempt begins, the reader goes on with it where he stands, for most commands print the same again.
 * Where a worker does not count, places are known for as long as nothing was lost.
 */
export class StreamPosition {
  readonly #stream: OutputPiece['stream']
  /** Offset of the next byte for the reader; undefined when it is not known any more. */
  #wanted: number | undefined
  /** Where the next piece begins, if it does not say. */
  #printed: number | undefined = 0
  #attempt = 0

  constructor(stream: OutputPiece['stream'], wanted: number) {
    this.#stream = stream
    this.#wanted = wanted
  }

  get wanted(): number | undefined {
    return this.#wanted
  }

  /** Undefined when there is nothing new in it for this reader. */
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
