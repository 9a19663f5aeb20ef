import type { Clock } from '../../base/clock.ts'
import type { Digest } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import type { BlobReader, BlobStore, BlobWriter, StoredForm } from '../blob-store.ts'
import { upstreamUnavailable } from './upstream-fault.ts'

/**
 * The download of one blob from the upstream into the local store, shared by any number of readers.
 *
 * All readers share one window with the last bytes, so memory grows with the number of fills, not of readers. The fill
 * waits for its fastest reader. If no reader reads for PATIENCE_MS, the fill continues alone. A reader that falls
 * behind the window waits for the end of the fill and continues from the local store, so a slow reader does not delay
 * others. If the local store fails, the fill continues for its readers, and a reader that fell behind reads from the
 * upstream.
 *
 * When all readers disconnect, the fill of a blob of up to WORTH_FINISHING_BYTES continues, because most of its cost is
 * spent. The fill of a larger blob stops; otherwise clients could make the server download gigabytes by connecting and
 * disconnecting.
 */
export interface FillOptions {
  readonly digest: Digest
  readonly local: BlobStore
  readonly clock: Pick<Clock, 'after'>
  /** Opens the blob at the upstream. Returns undefined when the upstream does not have the blob. */
  readonly open: (signal: AbortSignal) => Promise<BlobReader | undefined>
  /**
   * Opens the blob at the upstream from `offset` on, for a reader that cannot read it from the window or the local
   * store.
   */
  readonly openRest: (offset: number, signal: AbortSignal | undefined) => Promise<BlobReader | undefined>
  readonly notKept: (error: unknown) => void
  /** Called when the download fails after its first byte. */
  readonly brokeOff: (error: unknown) => void
}

const WINDOW_BYTES = 1024 * 1024
const WINDOW_PIECES = 1024
const PATIENCE_MS = 2000
/** A blob up to this size is downloaded to its end, even when all readers have disconnected. */
const WORTH_FINISHING_BYTES = 64 * 1024 * 1024

const UNREAD = upstreamUnavailable('all readers of the blob have disconnected')

export class Fill {
  readonly #options: FillOptions
  readonly #stop = new AbortController()
  readonly #window: Uint8Array[] = []
  /** The number of the first piece in the window. */
  #first = 0
  #windowBytes = 0
  #cameBytes = 0
  /** Bytes that the fastest reader has read. */
  #readBytes = 0
  #readers = 0
  #isPaced = true
  #isKeeping = true
  #isOver = false
  #failure: unknown
  #changed = Promise.withResolvers<void>()
  #taken = Promise.withResolvers<void>()
  /**
   * The form of the download. Undefined when the upstream does not have the blob; rejects when the upstream call fails.
   */
  readonly opened: Promise<StoredForm | undefined>
  /** Resolves when the download has ended or failed. Never rejects. */
  readonly over: Promise<void>

  constructor(options: FillOptions) {
    this.#options = options
    const reader = options.open(this.#stop.signal)
    this.opened = reader.then((found) => found?.form)
    this.opened.catch(() => {})
    this.over = reader.then((found) => this.#run(found)).catch((error: unknown) => this.#end(error))
  }

  /**
   * Whether a new reader can still read the whole blob: from the first piece in the window, or from the local store.
   */
  get isJoinable(): boolean {
    return !this.#isOver && !this.#stop.signal.aborted && (this.#isKeeping || this.#first === 0)
  }

  /** Adds a reader, which counts until it has read all pieces or `signal` aborts. */
  join(signal: AbortSignal | undefined): Reading {
    this.#readers++
    let isHere = true
    const leave = (): void => {
      if (!isHere) return
      isHere = false
      this.#readers--
      signal?.removeEventListener('abort', leave)
      if (this.#readers === 0) this.#lastLeft()
    }
    if (signal?.aborted === true) leave()
    else signal?.addEventListener('abort', leave, { once: true })
    return { pieces: this.#pieces(leave, signal), leave }
  }

  async #run(reader: BlobReader | undefined): Promise<void> {
    if (reader === undefined) return this.#end(undefined)
    let writer = this.#begin(reader.form)
    try {
      for await (const piece of reader.pieces) {
        this.#push(Uint8Array.from(piece))
        writer = await this.#keep(writer, (held) => held.write(piece))
        if (this.#readers === 0 && !this.#goesOnAlone) throw UNREAD
        await this.#keepPace()
      }
      writer = await this.#keep(writer, (held) => held.commit())
      this.#end(undefined)
    } catch (error) {
      writer?.abort()
      if (error !== UNREAD) this.#options.brokeOff(error)
      this.#end(error)
    }
  }

  #begin(form: StoredForm): BlobWriter | undefined {
    try {
      return this.#options.local.write(this.#options.digest, form)
    } catch (error) {
      this.#isKeeping = false
      this.#options.notKept(error)
      return undefined
    }
  }

  /** After the first error of the local store, nothing more is written to it. Readers are not affected. */
  async #keep(
    writer: BlobWriter | undefined,
    step: (writer: BlobWriter) => void | Promise<void>,
  ): Promise<BlobWriter | undefined> {
    try {
      if (writer !== undefined) await step(writer)
      return writer
    } catch (error) {
      this.#isKeeping = false
      this.#options.notKept(error)
      writer?.abort()
      return undefined
    }
  }

  get #goesOnAlone(): boolean {
    return this.#isKeeping && this.#options.digest.size <= WORTH_FINISHING_BYTES
  }

  #lastLeft(): void {
    if (!this.#isOver && !this.#goesOnAlone) this.#stop.abort()
    this.#noteTaken()
  }

  #push(piece: Uint8Array): void {
    this.#window.push(piece)
    this.#windowBytes += piece.length
    this.#cameBytes += piece.length
    while (this.#window.length > WINDOW_PIECES || (this.#windowBytes > WINDOW_BYTES && this.#window.length > 1)) {
      this.#windowBytes -= (this.#window.shift() as Uint8Array).length
      this.#first++
    }
    this.#noteChange()
  }

  /** Waits while the fastest reader is more than half a window behind, unless no reader reads for PATIENCE_MS. */
  async #keepPace(): Promise<void> {
    const isFarAhead = (): boolean => this.#cameBytes - this.#readBytes > WINDOW_BYTES / 2
    while (this.#readers > 0 && (this.#isPaced || !this.#isKeeping) && isFarAhead()) {
      const taken = this.#taken.promise
      let isStuck = false
      const forget = this.#options.clock.after(PATIENCE_MS, () => {
        isStuck = this.#isKeeping
        this.#noteTaken()
      })
      await taken
      forget()
      if (isStuck) this.#isPaced = false
    }
  }

  #end(failure: unknown): void {
    this.#isOver = true
    this.#failure = failure
    this.#noteChange()
  }

  #noteChange(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  #noteTaken(): void {
    this.#taken.resolve()
    this.#taken = Promise.withResolvers()
  }

  async *#pieces(leave: () => void, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    let next = 0
    let have = 0
    try {
      for (;;) {
        if (signal?.aborted === true) throw turnedAway()
        if (next < this.#first) return yield* this.#rest(have, signal)
        const piece = this.#window[next - this.#first]
        if (piece === undefined) {
          if (this.#failure !== undefined) throw this.#failure
          if (this.#isOver) return
          await unlessAborted(this.#changed.promise, signal)
          continue
        }
        next++
        have += piece.length
        yield piece
        if (have > this.#readBytes) {
          this.#readBytes = have
          this.#noteTaken()
        }
      }
    } finally {
      leave()
    }
  }

  /**
   * Yields the bytes after the first `have`, for a reader that fell behind. Waits until the blob is in the local store.
   */
  async *#rest(have: number, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    if (this.#isKeeping) await unlessAborted(this.over, signal)
    if (this.#failure !== undefined) throw this.#failure
    const { local, digest, openRest } = this.#options
    const isZstd = (await this.opened) === 'zstd'
    const held = await local.read(digest, isZstd ? { offset: 0, acceptZstd: true } : { offset: have }, signal)
    const reader = held ?? (isZstd ? undefined : await openRest(have, signal))
    // The blob was evicted, or is stored in another form: the read cannot continue in the middle.
    if (reader === undefined || (reader.form === 'zstd') !== isZstd)
      throw upstreamUnavailable('the rest of the blob is not here')
    let skip = isZstd ? have : 0
    for await (const piece of reader.pieces) {
      if (piece.length > skip) yield skip > 0 ? piece.subarray(skip) : piece
      skip = Math.max(0, skip - piece.length)
    }
  }
}

export interface Reading {
  readonly pieces: AsyncIterable<Uint8Array>
  leave(): void
}

const turnedAway = (): FaultError => new FaultError({ kind: 'cancelled', what: 'the reader turned away' })

/** Waits for a shared download. When `signal` aborts, only this reader stops waiting. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise
  if (signal.aborted) throw turnedAway()
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(turnedAway())
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
