/** A part of the output of a running task. */
export interface OutputPiece {
  readonly stream: 'stdout' | 'stderr'
  /** The attempt that printed it. */
  readonly attempt: number
  readonly bytes: Uint8Array
  /**
   * Its offset in the stream, if the worker sends offsets: a gap shows that output was lost before it reached the
   * server.
   */
  readonly at: number | undefined
  /** Bytes between the previous piece and this one that were dropped before the listener read them. */
  readonly missed: number
}

/** The position of one listener in the output. */
export interface OutputListener {
  /** Returns undefined when there is no more output at present. */
  next(): OutputPiece | undefined
  /** No output follows the unread part. */
  readonly isEnded: boolean
  close(): void
}

export type Printing = Pick<OutputPiece, 'stream' | 'attempt' | 'bytes'> & { readonly at?: number | undefined }

interface Chunk {
  readonly piece: Omit<OutputPiece, 'missed'>
  /** The number of bytes before it, of both streams. */
  readonly before: number
}

/** A limit for many small chunks. */
const MOST_CHUNKS = 4096

/**
 * Keeps the newest output of a task for its listeners. The worker is never blocked: output that a listener does not
 * read in time is dropped, and the next piece contains the number of bytes that the listener missed.
 */
export class OutputRing {
  readonly #mostBytes: number
  #chunks: Chunk[] = []
  #printed = 0
  #kept = 0
  #ended = false
  readonly #wakes = new Set<{ wake: () => void; isDue: boolean }>()

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  add({ stream, attempt, bytes: given, at }: Printing): void {
    if (given.length === 0) return
    // The ring keeps only the end of an input that is larger than the ring.
    const skipped = Math.max(0, given.length - this.#mostBytes)
    const bytes = new Uint8Array(given.subarray(skipped))
    const piece = { stream, attempt, bytes, at: at === undefined ? undefined : at + skipped }
    this.#chunks.push({ piece, before: this.#printed + skipped })
    this.#printed += given.length
    this.#kept += bytes.length
    let gone = 0
    while (this.#kept > this.#mostBytes || this.#chunks.length - gone > MOST_CHUNKS)
      this.#kept -= this.#chunks[gone++]?.piece.bytes.length ?? 0
    if (gone > 0) this.#chunks = this.#chunks.slice(gone)
    this.#wakeAll()
  }

  end(): void {
    this.#ended = true
    this.#wakeAll()
  }

  /**
   * Begins with the oldest output that is kept. `wake` is called once per loop turn with new output, and at the end.
   */
  listen(wake: () => void): OutputListener {
    const entry = { wake, isDue: false }
    this.#wakes.add(entry)
    if (this.#printed > 0 || this.#ended) this.#wakeSoon(entry)
    let at = 0
    const isEnded = (): boolean => this.#ended
    return {
      next: () => {
        const chunk = this.#after(at)
        if (chunk === undefined) return undefined
        const missed = chunk.before - at
        at = chunk.before + chunk.piece.bytes.length
        return { ...chunk.piece, missed }
      },
      get isEnded() {
        return isEnded()
      },
      close: () => void this.#wakes.delete(entry),
    }
  }

  /** The first chunk that begins at this position or later. */
  #after(at: number): Chunk | undefined {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#chunks[middle]?.before ?? 0) < at) low = middle + 1
      else high = middle
    }
    return this.#chunks[low]
  }

  #wakeAll(): void {
    for (const entry of this.#wakes) this.#wakeSoon(entry)
  }

  #wakeSoon(entry: { wake: () => void; isDue: boolean }): void {
    if (entry.isDue) return
    entry.isDue = true
    setImmediate(() => {
      entry.isDue = false
      if (this.#wakes.has(entry)) entry.wake()
    })
  }
}
