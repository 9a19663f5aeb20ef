import { createHash } from 'node:crypto'

/**
 * Hash of output for comparison by a judge: white space at the ends of lines and empty lines at the end are ignored.
 * Output is hashed in pieces, so that no output is in memory as a whole.
 */
export interface PrintedHash {
  add(bytes: Uint8Array): void
  /** Returns the hash as hex; no output may be added afterwards. */
  end(): string
}

const NEWLINE = 10
const SPACE = 32
/** Tab, vertical tab, form feed, carriage return. */
const isBlank = (byte: number): boolean => byte === SPACE || byte === 9 || (byte >= 11 && byte <= 13)

export function printedHash(): PrintedHash {
  const hash = createHash('sha256')
  /** Newlines and blanks that count only if other characters follow. */
  let tail: Uint8Array = new Uint8Array()
  return {
    add(bytes) {
      const out = Buffer.allocUnsafe(tail.length + bytes.length)
      out.set(tail)
      let end = tail.length
      let solid = 0
      let lineEnd = tail.lastIndexOf(NEWLINE) + 1
      for (const byte of bytes) {
        if (byte === NEWLINE) end = lineEnd // drops blanks before the newline
        out[end++] = byte
        if (isBlank(byte)) continue
        lineEnd = end
        if (byte !== NEWLINE) solid = end
      }
      hash.update(out.subarray(0, solid))
      tail = out.subarray(solid, end)
    },
    end: () => hash.digest('hex'),
  }
}

export function hashOfText(text: string): string {
  const hash = printedHash()
  hash.add(Buffer.from(text))
  return hash.end()
}
