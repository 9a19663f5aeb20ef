/**
 * What a task prints while it runs: the last of it, for whoever listens. The worker is never held up: what nobody read
 * in time is gone, and each listener is told how much it missed.
 */
export interface OutputPiece {
  readonly stream: 'stdout' | 'stderr'
  /** Which attempt printed it. */
  readonly attempt: number
  readonly bytes: Uint8Array
  /** Where it begins in its stream, if the worker counts: what was lost on the way here shows by that alone. */
  readonly at: number | undefined
  /** Bytes that came between the piece before and this one, and are gone. */
  readonly missed: number
}

/** One listener's place in the output. */
export interface OutputListener {
  /** Undefined when there is nothing more at present. */
  next(): OutputPiece | undefined
  /** Nothing will come after what is still to be read. */
  readonly isEnded: boolean
  close(): void
}

export type Printing = Pick<OutputPiece, 'stream' | 'attempt' | 'bytes'> & { readonly at?: number | undefined }

interface Chunk {
  readonly piece: Omit<OutputPiece, 'missed'>
  /** Bytes that came before it, of both streams. */
  readonly before: number
}

/** However small they are. */
const MOST_CHUNKS = 4096

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

  /** From the oldest that is kept on. `wake` is called when there is more, once a loop turn, and when it ends. */
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

  /** The first that begins at this place or later. */
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
