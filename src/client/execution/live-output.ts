import { createHash, type Hash } from 'node:crypto'
import type { PrintedPiece } from '../../model/grid-view.ts'

/**
 * What a command prints, shown once. While it runs, pieces come live: the beginning of each stream is shown for as long
 * as nothing of it is missing, and all of it comes from one attempt. In the end the result has both streams whole, and
 * what was not shown of them follows. That what was shown is how the result begins is not taken for granted: the live
 * view may have been of an attempt that was lost. Then all of the result is shown, and the reader is told.
 */
export interface LiveScreen {
  /** False when nobody reads any more. */
  write(stream: Stream, bytes: Uint8Array): Promise<boolean>
  /** The result is not what was shown so far; all of it follows. */
  differs(stream: Stream): void
}

export type Stream = PrintedPiece['stream']

interface Shown {
  bytes: number
  readonly hash: Hash
}

export class LiveOutput {
  readonly #screen: LiveScreen
  readonly #shown: Readonly<Record<Stream, Shown>> = { stdout: nothing(), stderr: nothing() }
  /** Of both streams together: how far the live view has come, and how far the present telling of it. */
  #seenTo = 0
  #at = 0
  #attempt: number | undefined
  /** What came after cannot be put in its place. */
  #isBroken = false
  #isLeft = false

  constructor(screen: LiveScreen) {
    this.#screen = screen
  }

  /** Nobody reads what is shown. */
  get isLeft(): boolean {
    return this.#isLeft
  }

  /** The live view begins anew, after its connection broke: what was seen of it comes again. */
  restart(): void {
    this.#at = 0
  }

  async live({ stream, attempt, bytes, missed }: PrintedPiece): Promise<void> {
    const from = this.#at + missed
    this.#at = from + bytes.length
    if (this.#isBroken || this.#at <= this.#seenTo) return
    const isOtherAttempt = this.#attempt !== undefined && attempt !== this.#attempt
    const hasShown = this.#shown.stdout.bytes + this.#shown.stderr.bytes > 0
    if (isOtherAttempt ? hasShown : from > this.#seenTo) {
      this.#isBroken = true
      return
    }
    this.#attempt = attempt
    const fresh = bytes.subarray(Math.max(0, this.#seenTo - from))
    this.#seenTo = this.#at
    await this.#show(stream, fresh)
  }

  /** A stream as the result has it; read from its start each time it is asked for. */
  async finish(stream: Stream, whole: () => AsyncIterable<Uint8Array>): Promise<void> {
    const { bytes: shownBytes, hash } = this.#shown[stream]
    const expected = hash.copy().digest('hex')
    const seen = createHash('sha256')
    let at = 0
    let isChecked = shownBytes === 0
    for await (const piece of whole()) {
      const known = isChecked ? 0 : Math.min(piece.length, shownBytes - at)
      at += piece.length
      if (!isChecked) {
        seen.update(piece.subarray(0, known))
        if (at < shownBytes) continue
        isChecked = true
        if (seen.digest('hex') !== expected) return await this.#again(stream, whole)
      }
      await this.#show(stream, piece.subarray(known))
      if (this.#isLeft) return
    }
    // Of very much output a result keeps less than was shown. Only where the live view broke is that no explanation.
    if (!isChecked && this.#isBroken) await this.#again(stream, whole)
  }

  async #again(stream: Stream, whole: () => AsyncIterable<Uint8Array>): Promise<void> {
    this.#screen.differs(stream)
    for await (const piece of whole()) {
      if (this.#isLeft) return
      await this.#show(stream, piece)
    }
  }

  async #show(stream: Stream, bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0 || this.#isLeft) return
    const shown = this.#shown[stream]
    shown.bytes += bytes.length
    shown.hash.update(bytes)
    if (!(await this.#screen.write(stream, bytes))) this.#isLeft = true
  }
}

const nothing = (): Shown => ({ bytes: 0, hash: createHash('sha256') })
