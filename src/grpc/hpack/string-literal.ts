/**
 * The string literal that was read last, in bytes (RFC 7541, section 5.2).
 *
 * It becomes a string only when someone asks for it: a field over the limit then costs its bytes and nothing else.
 * One object serves all literals of all connections, for decoding a block is one synchronous step.
 */
import { decodeHuffman } from './huffman.ts'
import type { Cursor } from './integer.ts'

/** From this length on a block copy is cheaper than a loop, though it must first make a view of its source. */
const WORTH_A_VIEW = 48

export class StringLiteral {
  length = 0
  #bytes: Buffer = Buffer.allocUnsafeSlow(4096)

  read(cursor: Cursor): void {
    const { block } = cursor
    const huffman = cursor.at < cursor.end && (block[cursor.at] as number) >= 0x80
    const start = cursor.skipString()
    const end = cursor.at
    const length = end - start
    this.#reserve(huffman ? 2 * length : length)
    if (huffman) {
      this.length = decodeHuffman(block, start, end, this.#bytes)
      return
    }
    this.length = length
    if (length >= WORTH_A_VIEW) this.#bytes.set(block.subarray(start, end), 0)
    else for (let i = 0; i < length; i++) this.#bytes[i] = block[start + i] as number
  }

  /** One character a byte: what HTTP calls obs-text comes out as Latin-1. */
  text(): string {
    return this.#bytes.toString('latin1', 0, this.length)
  }

  /** Capacity for this many bytes, and for the one that the Huffman decoder may write behind its last. */
  #reserve(bytes: number): void {
    if (bytes >= this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(2 * bytes)
  }
}
