/**
 * The last string literal that was read, in bytes (RFC 7541, section 5.2).
 *
 * It becomes a string only on request, so that a field over the limit costs only its bytes. One object serves all
 * literals of all connections, because decoding a block is synchronous.
 */
import { decodeHuffman } from './huffman.ts'
import type { Cursor } from './integer.ts'

/** From this length on a block copy is faster than a loop, although it needs a view of its source. */
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

  /** One character per byte: the bytes that HTTP calls obs-text become Latin-1. */
  text(): string {
    return this.#bytes.toString('latin1', 0, this.length)
  }

  /** Ensures capacity for this many bytes, and for one that the Huffman decoder may write behind the last. */
  #reserve(bytes: number): void {
    if (bytes >= this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(2 * bytes)
  }
}
