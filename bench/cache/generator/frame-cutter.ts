/** Splits the bytes of a socket into frames. DATA is passed on as it arrives, before its frame is complete. */
import { FRAME_HEAD_BYTES, FRAME_TYPE } from '../../../src/grpc/http2/wire-format.ts'

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  /** A view that is valid only during the call. */
  readonly payload: Buffer
}

export interface FrameListener {
  frame(frame: Frame): void
  /** Bytes of a DATA frame, as a view that is valid only during the call. `flags` are passed with the last bytes. */
  data(stream: number, bytes: Buffer, flags: number): void
}

export class FrameCutter {
  readonly #listener: FrameListener
  #rest: Buffer | undefined
  /** The current DATA frame: its stream, its flags, and the bytes that are still missing. */
  #stream = 0
  #flags = 0
  #left = 0

  constructor(listener: FrameListener) {
    this.#listener = listener
  }

  read(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk])
    let at = this.#left > 0 ? this.#data(bytes, 0) : 0
    while (bytes.length - at >= FRAME_HEAD_BYTES) {
      const length = bytes.readUIntBE(at, 3)
      const type = bytes[at + 3] as number
      const flags = bytes[at + 4] as number
      const stream = bytes.readUInt32BE(at + 5)
      const start = at + FRAME_HEAD_BYTES
      if (type === FRAME_TYPE.data) {
        this.#stream = stream
        this.#flags = flags
        this.#left = length
        at = length === 0 ? this.#endOfData(start) : this.#data(bytes, start)
      } else if (start + length > bytes.length) {
        break
      } else {
        this.#listener.frame({ type, flags, stream, payload: bytes.subarray(start, start + length) })
        at = start + length
      }
    }
    this.#rest = at < bytes.length ? Buffer.from(bytes.subarray(at)) : undefined
  }

  #data(bytes: Buffer, from: number): number {
    const end = Math.min(bytes.length, from + this.#left)
    this.#left -= end - from
    if (end > from) this.#listener.data(this.#stream, bytes.subarray(from, end), this.#left === 0 ? this.#flags : 0)
    return end
  }

  #endOfData(at: number): number {
    this.#listener.data(this.#stream, Buffer.alloc(0), this.#flags)
    return at
  }
}
