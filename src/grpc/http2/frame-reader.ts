import { ConnectionFault, ERROR, FLAG, FRAME_HEAD_BYTES, FRAME_TYPE, PREFACE, readUint32 } from './wire-format.ts'

/** Receives the frames. Buffers are valid only during the call, except pieces of data, which may be kept. */
export interface Http2FrameSink {
  onFrame(type: number, flags: number, stream: number, buffer: Buffer, start: number, end: number): void
  /** Called at the start of a DATA frame of `length` bytes, padding included. */
  onDataBegin(flags: number, stream: number, length: number): void
  onDataPiece(buffer: Buffer, start: number, end: number, isLast: boolean): void
  /** Called with the number of padding bytes of the current DATA frame. */
  onPadding(bytes: number): void
}

/**
 * Splits the bytes of a socket into frames. A frame that is complete in one read is handled in place. DATA is passed on
 * piece by piece as it arrives, so that it is never copied here. Of the other frames, at most one that spans two reads
 * is collected in `#carry`.
 */
export class Http2FrameReader {
  readonly #sink: Http2FrameSink
  readonly #maxFrameBytes: number
  #prefaceLeft: number
  #carry: Buffer | undefined
  #carried = 0
  #dataLeft = 0
  #padLeft = 0
  #inData = false
  #padByteDue = false

  constructor(sink: Http2FrameSink, options: { maxFrameBytes: number; expectPreface: boolean }) {
    this.#sink = sink
    this.#maxFrameBytes = options.maxFrameBytes
    this.#prefaceLeft = options.expectPreface ? PREFACE.length : 0
  }

  read(chunk: Buffer): void {
    let at = this.#prefaceLeft > 0 ? this.#readPreface(chunk) : 0
    while (at < chunk.length) {
      if (this.#inData) at = this.#readData(chunk, at)
      else if (this.#carried > 0) at = this.#readCarried(chunk, at)
      else if (chunk.length - at < FRAME_HEAD_BYTES) at = this.#stash(chunk, at, chunk.length)
      else at = this.#readFrame(chunk, at)
    }
  }

  #readPreface(chunk: Buffer): number {
    const from = PREFACE.length - this.#prefaceLeft
    const size = Math.min(this.#prefaceLeft, chunk.length)
    if (chunk.compare(PREFACE, from, from + size, 0, size) !== 0) {
      throw new ConnectionFault(ERROR.protocol, 'this is not an HTTP/2 connection preface')
    }
    this.#prefaceLeft -= size
    return size
  }

  #readFrame(chunk: Buffer, at: number): number {
    const length = this.#frameLength(chunk, at)
    const type = chunk[at + 3] as number
    const body = at + FRAME_HEAD_BYTES
    const flags = chunk[at + 4] as number
    const stream = readUint32(chunk, at + 5) & 0x7fffffff
    if (type === FRAME_TYPE.data) {
      this.#beginData(flags, stream, length)
      // An empty frame has no piece that could be the last.
      if (length === 0) this.#endData(chunk, body)
      return body
    }
    if (body + length > chunk.length) return this.#stash(chunk, at, chunk.length)
    this.#sink.onFrame(type, flags, stream, chunk, body, body + length)
    return body + length
  }

  #frameLength(buffer: Buffer, at: number): number {
    const length = ((buffer[at] as number) << 16) | ((buffer[at + 1] as number) << 8) | (buffer[at + 2] as number)
    if (length > this.#maxFrameBytes) {
      throw new ConnectionFault(ERROR.frameSize, `a frame of ${length} bytes is larger than ${this.#maxFrameBytes}`)
    }
    return length
  }

  #beginData(flags: number, stream: number, length: number): void {
    this.#inData = true
    this.#dataLeft = length
    this.#padLeft = 0
    this.#padByteDue = (flags & FLAG.padded) !== 0
    if (this.#padByteDue && length === 0) throw new ConnectionFault(ERROR.frameSize, 'padding without a length')
    this.#sink.onDataBegin(flags, stream, length)
  }

  #readData(chunk: Buffer, at: number): number {
    if (this.#padByteDue) {
      this.#padByteDue = false
      this.#padLeft = chunk[at] as number
      if (this.#padLeft >= this.#dataLeft) throw new ConnectionFault(ERROR.protocol, 'padding exceeds its frame')
      this.#dataLeft -= this.#padLeft + 1
      this.#sink.onPadding(this.#padLeft + 1)
      at++
      if (this.#dataLeft === 0 && this.#padLeft === 0) return this.#endData(chunk, at)
    }
    if (this.#dataLeft > 0) {
      const end = Math.min(chunk.length, at + this.#dataLeft)
      if (end === at) return at
      this.#dataLeft -= end - at
      const isLast = this.#dataLeft === 0 && this.#padLeft === 0
      if (isLast) this.#inData = false
      this.#sink.onDataPiece(chunk, at, end, isLast)
      return end
    }
    const skipped = Math.min(this.#padLeft, chunk.length - at)
    this.#padLeft -= skipped
    return this.#padLeft === 0 ? this.#endData(chunk, at + skipped) : at + skipped
  }

  #endData(chunk: Buffer, at: number): number {
    this.#inData = false
    this.#sink.onDataPiece(chunk, at, at, true)
    return at
  }

  #stash(chunk: Buffer, from: number, to: number): number {
    this.#carry ??= Buffer.allocUnsafeSlow(FRAME_HEAD_BYTES + this.#maxFrameBytes)
    this.#carried += chunk.copy(this.#carry, this.#carried, from, to)
    return to
  }

  #readCarried(chunk: Buffer, at: number): number {
    const carry = this.#carry as Buffer
    if (this.#carried < FRAME_HEAD_BYTES) {
      const upTo = Math.min(chunk.length, at + FRAME_HEAD_BYTES - this.#carried)
      at = this.#stash(chunk, at, upTo)
      if (this.#carried < FRAME_HEAD_BYTES) return at
    }
    const total = FRAME_HEAD_BYTES + this.#frameLength(carry, 0)
    if (carry[3] === FRAME_TYPE.data) {
      this.#carried = 0
      this.#readFrame(carry.subarray(0, FRAME_HEAD_BYTES), 0)
      return at
    }
    at = this.#stash(chunk, at, Math.min(chunk.length, at + total - this.#carried))
    if (this.#carried < total) return at
    this.#carried = 0
    this.#readFrame(carry.subarray(0, total), 0)
    return at
  }
}
