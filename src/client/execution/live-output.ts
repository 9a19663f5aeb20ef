import { createHash, type Hash } from 'node:crypto'
import type { PrintedPiece } from '../../model/grid-view.ts'

/**
 * Shows the output of a command once. While the command runs, live pieces are shown as long as none is missing and all
 * come from one attempt. At the end the result has both streams whole, and the part that was not shown follows. The
 * shown part may differ from the result, because the attempt of the live view may have been lost. Then the whole result
 * is shown, with a notice.
 */
export interface LiveScreen {
  /** Resolves to false when the reader has closed the stream. */
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
  /** Bytes of both streams together: the furthest position shown, and the position in the present stream of pieces. */
  #seenTo = 0
  #at = 0
  #attempt: number | undefined
  /** Pieces are missing, so that later ones cannot be shown. */
  #isBroken = false
  #isLeft = false

  constructor(screen: LiveScreen) {
    this.#screen = screen
  }

  /** The reader has closed the stream. */
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
    // Results keep at most a limit of output, so less than was shown is normal; not where the live view was
    // interrupted.
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
