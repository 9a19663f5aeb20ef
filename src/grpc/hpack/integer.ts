import { HpackError } from './hpack-error.ts'

/** All useful indices, lengths and table sizes are smaller; a larger integer is an attack or an error. */
const LARGEST = 2 ** 28
/** The continuation bytes of seven bits each, after the byte with the prefix. */
const MOST_CONTINUATIONS = 4

/** A position in a header block, which its readers advance. */
export class Cursor {
  block: Uint8Array = new Uint8Array(0)
  at = 0
  end = 0

  open(block: Uint8Array, start: number, end: number): void {
    this.block = block
    this.at = start
    this.end = end
  }

  /** Reads an integer whose prefix is the bits of `mask` in the byte at the cursor (RFC 7541, section 5.1). */
  integer(mask: number): number {
    if (this.at >= this.end) throw new HpackError('the header block ends where an integer should be')
    const prefix = (this.block[this.at++] as number) & mask
    return prefix < mask ? prefix : this.#continued(mask)
  }

  /** Skips a string literal, and returns the start of its bytes. */
  skipString(): number {
    const length = this.integer(0x7f)
    const start = this.at
    if (length > this.end - start) throw new HpackError('a string reaches beyond its header block')
    this.at = start + length
    return start
  }

  #continued(prefix: number): number {
    let value = prefix
    for (let i = 0; i < MOST_CONTINUATIONS; i++) {
      if (this.at >= this.end) throw new HpackError('the header block ends within an integer')
      const byte = this.block[this.at++] as number
      value += (byte & 0x7f) << (7 * i)
      if (byte < 0x80) {
        if (value > LARGEST) break
        return value
      }
    }
    throw new HpackError('an integer in the header block is too large')
  }
}

/** The part before an integer in its first byte: the type bits, and the number of bits left for the integer. */
export interface Prefix {
  readonly pattern: number
  readonly mask: number
}

/** Writes an integer, and returns the offset after it. */
export function writeInteger(value: number, { pattern, mask }: Prefix, target: Uint8Array, offset: number): number {
  if (value < mask) {
    target[offset] = pattern | value
    return offset + 1
  }
  let at = offset
  target[at++] = pattern | mask
  let rest = value - mask
  for (; rest >= 0x80; rest >>>= 7) target[at++] = (rest & 0x7f) | 0x80
  target[at++] = rest
  return at
}
