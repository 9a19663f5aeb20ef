import { HUFFMAN_CODES, HUFFMAN_LENGTHS } from '../../../src/grpc/hpack/huffman-code.ts'

/** Encodes text of one-byte characters in the Huffman code of RFC 7541. The last byte is padded with ones. */
export function huffmanEncode(text: string): Buffer {
  let bits = 0
  for (let i = 0; i < text.length; i++) bits += HUFFMAN_LENGTHS[text.charCodeAt(i)] ?? 0
  const coded = Buffer.alloc(Math.ceil(bits / 8))
  let at = 0
  // At most seven bits are pending. With a code of 24 bits they fit in 31 bits, and header text has no longer code.
  let waiting = 0
  let count = 0
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i)
    const length = HUFFMAN_LENGTHS[symbol] ?? 0
    waiting = ((waiting << length) | (HUFFMAN_CODES[symbol] ?? 0)) & 0x7fffffff
    count += length
    for (; count >= 8; count -= 8) coded[at++] = waiting >>> (count - 8)
  }
  if (count > 0) coded[at] = (waiting << (8 - count)) | (0xff >>> count)
  return coded
}
