import type { Clock } from '../../base/clock.ts'
import type { Digest } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import type { BlobReader, BlobStore, BlobWriter, StoredForm } from '../blob-store.ts'
import { upstreamUnavailable } from './upstream-fault.ts'

/**
 * One blob on its way from the upstream into the local store, with any number of readers along.
 *
 * What came last stays in a short window that all readers share, so that memory is bounded by fills and not by readers.
 * The fill keeps pace with its fastest reader while that one moves; when nobody takes anything for a while it runs on
 * alone. A reader that falls out of the window waits for the end, and goes on from the local store: a slow or stuck
 * reader delays nobody else. Should the local store fail, the fill goes on for its readers, and one that fell behind asks
 * the upstream itself.
 *
 * Readers that leave do not stop a blob of moderate size, for what is under way is nearly paid; of a larger one it ends
 * with the last of them, or clients could have us fetch gigabytes by asking and going away.
 */
export interface FillOptions {
  readonly digest: Digest
  readonly local: BlobStore
  readonly clock: Pick<Clock, 'after'>
  /** The upstream's answer, or undefined for what is not there. */
  readonly open: (signal: AbortSignal) => Promise<BlobReader | undefined>
  /** The same for what follows the first bytes, for a reader that can have it from nowhere else. */
  readonly openRest: (offset: number, signal: AbortSignal | undefined) => Promise<BlobReader | undefined>
  readonly notKept: (error: unknown) => void
  /** The download failed after it had begun. */
  readonly brokeOff: (error: unknown) => void
}

const WINDOW_BYTES = 1024 * 1024
const WINDOW_PIECES = 1024
const PATIENCE_MS = 2000
/** A blob up to this size is downloaded to its end, even when all readers have left. */
const WORTH_FINISHING_BYTES = 64 * 1024 * 1024

const UNWANTED = upstreamUnavailable('nobody wants it any more')

export class Fill {
  readonly #options: FillOptions
  readonly #stop = new AbortController()
  readonly #window: Uint8Array[] = []
  /** The number of the first piece in the window. */
  #first = 0
  #windowBytes = 0
  #cameBytes = 0
  /** How far the fastest reader is. */
  #readBytes = 0
  #readers = 0
  #isPaced = true
  #isKeeping = true
  #isOver = false
  #failure: unknown
  #changed = Promise.withResolvers<void>()
  #taken = Promise.withResolvers<void>()
  /** Undefined when the upstream does not hold it; rejects when it cannot be asked. */
  readonly opened: Promise<StoredForm | undefined>
  /** When nothing more will come; never rejects. */
  readonly over: Promise<void>

  constructor(options: FillOptions) {
    this.#options = options
    const reader = options.open(this.#stop.signal)
    this.opened = reader.then((found) => found?.form)
    this.opened.catch(() => {})
    this.over = reader.then((found) => this.#run(found)).catch((error: unknown) => this.#end(error))
  }

  /** A reader that starts now still gets the first piece, or reads all of the blob from the local store. */
  get isJoinable(): boolean {
    return !this.#isOver && !this.#stop.signal.aborted && (this.#isKeeping || this.#first === 0)
  }

  /** Counts as a reader until all pieces were read or `signal` aborts. */
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
        if (this.#readers === 0 && !this.#goesOnAlone) throw UNWANTED
        await this.#keepPace()
      }
      writer = await this.#keep(writer, (held) => held.commit())
      this.#end(undefined)
    } catch (error) {
      writer?.abort()
      if (error !== UNWANTED) this.#options.brokeOff(error)
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

  /** A local store that fails is skipped from then on; readers are not affected. */
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

  /** Waits until the fastest reader has half a window or less ahead of it, or no reader moves. */
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

  /** For a reader that fell behind: what follows the first `have` bytes, once everything is here. */
  async *#rest(have: number, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    if (this.#isKeeping) await unlessAborted(this.over, signal)
    if (this.#failure !== undefined) throw this.#failure
    const { local, digest, openRest } = this.#options
    const isZstd = (await this.opened) === 'zstd'
    const held = await local.read(digest, isZstd ? { offset: 0, acceptZstd: true } : { offset: have }, signal)
    const reader = held ?? (isZstd ? undefined : await openRest(have, signal))
    // The blob was evicted, or is stored in another form: reading cannot continue in the middle.
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

/** The shared download continues; only this reader stops waiting. */
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
