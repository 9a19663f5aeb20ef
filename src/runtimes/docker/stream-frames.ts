import type { OutputName } from '../launcher/launcher.ts'

const HEADER_BYTES = 8
const NAMES: Readonly<Record<number, OutputName>> = { 1: 'stdout', 2: 'stderr' }

/**
 * Parses the stream of an attached container. Both outputs share one stream, and each piece follows a header with its
 * stream and length. Partial pieces are forwarded at once: a header can announce 4 GB, and the reader does not buffer
 * it.
 */
export class StreamFrameReader {
  readonly #output: (name: OutputName, bytes: Uint8Array) => void
  readonly #header = Buffer.alloc(HEADER_BYTES)
  #headerLength = 0
  #left = 0

  constructor(output: (name: OutputName, bytes: Uint8Array) => void) {
    this.#output = output
  }

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at += this.#left > 0 ? this.#pass(bytes, at) : this.#begin(bytes, at)
  }

  #begin(bytes: Buffer, at: number): number {
    const taken = bytes.copy(this.#header, this.#headerLength, at, at + HEADER_BYTES - this.#headerLength)
    this.#headerLength += taken
    if (this.#headerLength === HEADER_BYTES) {
      this.#headerLength = 0
      this.#left = this.#header.readUInt32BE(4)
    }
    return taken
  }

  #pass(bytes: Buffer, at: number): number {
    const piece = bytes.subarray(at, at + this.#left)
    this.#left -= piece.length
    const name = NAMES[this.#header[0] as number]
    if (name !== undefined) this.#output(name, piece)
    return piece.length
  }
}
