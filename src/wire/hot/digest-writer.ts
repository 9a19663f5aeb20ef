import type { DigestList } from '../../base/digest.ts'
import { putHead, putVarint, varintLength } from '../messages/message-writer.ts'

/** Encodes digest `index` of a list as a Digest message, into a buffer of the exact size. */
export const digestLength = (list: DigestList, index: number): number => {
  const size = list.sizes[index] as number
  return 1 + varintLength(list.width * 2) + list.width * 2 + (size === 0 ? 0 : 1 + varintLength(size))
}

const HASH = 0x0a
const SIZE = 0x10
const DIGITS = new Uint8Array(Buffer.from('0123456789abcdef'))

/** Returns the offset behind the message. */
export function putDigest(out: Uint8Array, at: number, list: DigestList, index: number): number {
  const { width, hashes } = list
  let next = putHead(out, at, HASH, width * 2)
  for (let from = index * width, to = from + width; from < to; from++) {
    const byte = hashes[from] as number
    out[next++] = DIGITS[byte >> 4] as number
    out[next++] = DIGITS[byte & 15] as number
  }
  const size = list.sizes[index] as number
  if (size === 0) return next
  out[next++] = SIZE
  return putVarint(out, next, size)
}
