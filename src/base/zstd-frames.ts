/**
 * Finds where zstd frames end (RFC 8878, section 3.1) without decompressing anything. A zstd stream may be several
 * frames one after another, and some may be skippable; Node's decompressor stops after the first and ignores what
 * follows. So we walk the frames ourselves: each goes through a decompressor of its own, and bytes that belong to no
 * frame make the whole stream invalid.
 *
 *   frame      magic FD2FB528 | descriptor | window? | dictionary id? | content size? | blocks | checksum?
 *   block      3 bytes: last (1 bit), type (2), size (21) | size bytes, or one when the type is RLE
 *   skippable  magic 184D2A5x | size (4 bytes) | size bytes
 */
const FRAME_MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a50
const ID_BYTES = [0, 1, 2, 4] as const
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const
const RLE = 1
const RESERVED = 3

const MAGIC_BYTES = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd)
/** Frames of a few bytes each would cost us far more than their sender. */
const MOST_FRAMES = 1024
const BYTES_PER_FRAME = 64 * 1024

/** The part of a frame that the next bytes belong to. */
type Part = 'magic' | 'descriptor' | 'rest of header' | 'block header' | 'block' | 'checksum' | 'skip size' | 'skip'

const FIELDS: ReadonlySet<Part> = new Set<Part>(['magic', 'descriptor', 'block header', 'skip size'])

export interface FrameSink {
  /** Bytes of the frame that is being read; skippable frames are left out. */
  bytes(part: Uint8Array): void
  /** The frame ended with the bytes before. */
  frameEnd(): void
}

export class ZstdFrames {
  readonly #sink: FrameSink
  readonly #field = new Uint8Array(4)
  #fieldHave = 0
  #part: Part = 'magic'
  /** How many bytes of this part are still to come. */
  #left = 4
  #lastBlock = false
  #checksum = false
  #skipping = false
  #frames = 0
  #total = 0

  constructor(sink: FrameSink) {
    this.#sink = sink
  }

  /** False when the bytes cannot be zstd; nothing more may be pushed then. */
  push(bytes: Uint8Array): boolean {
    let at = 0
    let from = 0
    while (at < bytes.length) {
      at += this.#take(bytes, at)
      while (this.#left === 0) {
        const ended = this.#part
        if (!this.#next()) return false
        if (ended === 'magic') this.#beginFrame()
        else if (this.#part !== 'magic') continue
        else if (!this.#endFrame(ended, bytes.subarray(from, at))) return false
        from = at
      }
    }
    if (from < at && this.#part !== 'magic' && !this.#skipping) this.#sink.bytes(bytes.subarray(from, at))
    return true
  }

  /** True when at least one frame came and nothing is cut short. */
  get isWhole(): boolean {
    return this.#part === 'magic' && this.#fieldHave === 0 && this.#frames > 0
  }

  /** Consumes the bytes that this part still lacks and stores them when they are needed. */
  #take(bytes: Uint8Array, at: number): number {
    const count = Math.min(this.#left, bytes.length - at)
    if (FIELDS.has(this.#part)) {
      for (let i = 0; i < count; i++) this.#field[this.#fieldHave++] = bytes[at + i] as number
    }
    this.#left -= count
    this.#total += count
    return count
  }

  #beginFrame(): void {
    if (!this.#skipping) this.#sink.bytes(MAGIC_BYTES)
  }

  #endFrame(lastPart: Part, last: Uint8Array): boolean {
    if (lastPart !== 'skip') {
      if (last.length > 0) this.#sink.bytes(last)
      this.#sink.frameEnd()
    }
    return ++this.#frames <= MOST_FRAMES + this.#total / BYTES_PER_FRAME
  }

  #expect(part: Part, bytes: number): true {
    this.#part = part
    this.#left = bytes
    this.#fieldHave = 0
    return true
  }

  #next(): boolean {
    const [a, b, c, d] = this.#field as unknown as [number, number, number, number]
    const number = (a | (b << 8) | (c << 16) | (d << 24)) >>> 0
    switch (this.#part) {
      case 'magic':
        this.#skipping = number >>> 4 === SKIPPABLE_MAGIC >>> 4
        if (this.#skipping) return this.#expect('skip size', 4)
        return number === FRAME_MAGIC && this.#expect('descriptor', 1)
      case 'descriptor':
        return this.#readDescriptor(a)
      case 'rest of header':
        return this.#expect('block header', 3)
      case 'block header':
        return this.#readBlockHeader(a | (b << 8) | (c << 16))
      case 'block':
        if (!this.#lastBlock) return this.#expect('block header', 3)
        return this.#checksum ? this.#expect('checksum', 4) : this.#expect('magic', 4)
      case 'skip size':
        return this.#expect('skip', number)
      case 'skip':
      case 'checksum':
        return this.#expect('magic', 4)
    }
  }

  #readDescriptor(byte: number): boolean {
    const singleSegment = (byte & 0x20) !== 0
    this.#checksum = (byte & 4) !== 0
    const sizeBytes = byte >>> 6 === 0 && singleSegment ? 1 : (CONTENT_SIZE_BYTES[byte >>> 6] as number)
    const rest = (singleSegment ? 0 : 1) + (ID_BYTES[byte & 3] as number) + sizeBytes
    return (byte & 8) === 0 && this.#expect('rest of header', rest)
  }

  #readBlockHeader(word: number): boolean {
    this.#lastBlock = (word & 1) === 1
    const type = (word >>> 1) & 3
    return type !== RESERVED && this.#expect('block', type === RLE ? 1 : word >>> 3)
  }
}
