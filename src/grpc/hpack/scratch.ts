/**
 * Where the literal strings of a header block are spelled out before they become strings.
 *
 * Both lengths of a field are then known before anything is allocated for it, so a field that is over the limit, or
 * not wanted any more, costs its bytes and nothing else. Decoding never waits in the middle of a block: one scratch
 * serves all connections.
 */
export class Scratch {
  bytes: Buffer = Buffer.allocUnsafeSlow(4096)
  /** Where the next string begins. */
  end = 0
  /** False once NUL, CR or LF has been written, which no field value may hold (RFC 9113, section 8.2.1). */
  legal = true

  clear(): void {
    this.end = 0
    this.legal = true
  }

  /** Makes room for so many bytes after the end. */
  reserve(count: number): void {
    if (this.end + count <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (this.end + count))
    this.bytes.copy(larger, 0, 0, this.end)
    this.bytes = larger
  }

  append(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start)
    const { bytes } = this
    let at = this.end
    for (let i = start; i < end; i++) {
      const byte = source[i] as number
      if (byte <= 13 && (byte === 0 || byte === 10 || byte === 13)) this.legal = false
      bytes[at++] = byte
    }
    this.end = at
  }

  /** One character a byte: what HTTP calls obs-text comes out as Latin-1. */
  text(start: number, end: number): string {
    return this.bytes.toString('latin1', start, end)
  }
}
