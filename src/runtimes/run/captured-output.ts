import type { Output } from './runtime.ts'

/** Keeps the output of a process, within the limit that its launcher enforces. */
export class CapturedOutput {
  readonly #pieces: Buffer[] = []
  #length = 0
  #tail: Buffer = Buffer.alloc(0)
  #dropped = 0

  add(bytes: Uint8Array): void {
    this.#pieces.push(Buffer.from(bytes))
    this.#length += bytes.length
  }

  /** The number of bytes that were dropped, and the last of them. */
  drop(count: number, tail: Uint8Array): void {
    this.#dropped = count
    this.#tail = Buffer.from(tail)
  }

  /** The tail replaces as many bytes before it, so that the total stays within the limit. */
  output(): Output {
    const droppedAt = Math.max(0, this.#length - this.#tail.length)
    const head = Buffer.concat(this.#pieces, this.#dropped === 0 ? this.#length : droppedAt)
    if (this.#dropped === 0) return { bytes: head, droppedBytes: 0, droppedAt: head.length }
    const droppedBytes = this.#length - droppedAt + this.#dropped - this.#tail.length
    return { bytes: Buffer.concat([head, this.#tail]), droppedBytes, droppedAt }
  }
}

export const NO_OUTPUT: Output = { bytes: new Uint8Array(0), droppedBytes: 0, droppedAt: 0 }
