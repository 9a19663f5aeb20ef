/** Splits the bytes of a socket into frames. DATA is only counted: its bytes are skipped. */
import {
  FRAME_HEAD_BYTES,
  FRAME_TYPE,
  PREFACE,
  putFrameHeader,
  putUint32,
} from '../../../src/grpc/http2/wire-format.ts'

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  /** A view that is valid only during the call: the socket reuses the buffer. */
  readonly payload: Buffer
}

export class FrameReader {
  readonly #onFrame: (frame: Frame) => void
  #rest: Buffer | undefined
  /** Bytes of a DATA frame that are still missing. */
  #skip = 0
  dataBytes = 0

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame
  }

  read(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk])
    let at = Math.min(this.#skip, bytes.length)
    this.#skip -= at
    while (bytes.length - at >= FRAME_HEAD_BYTES) {
      const length = bytes.readUIntBE(at, 3)
      const type = bytes[at + 3] ?? 0
      const end = at + FRAME_HEAD_BYTES + length
      if (type === FRAME_TYPE.data) {
        this.dataBytes += length
        this.#skip = Math.max(0, end - bytes.length)
      } else if (end > bytes.length) {
        break
      } else {
        const payload = bytes.subarray(at + FRAME_HEAD_BYTES, end)
        this.#onFrame({ type, flags: bytes[at + 4] ?? 0, stream: bytes.readUInt32BE(at + 5), payload })
      }
      at = Math.min(end, bytes.length)
    }
    this.#rest = at < bytes.length ? Buffer.from(bytes.subarray(at)) : undefined
  }
}

export function frameOf(type: number, flags: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.alloc(FRAME_HEAD_BYTES + payload.length)
  bytes.set(payload, putFrameHeader(bytes, 0, payload.length, (type << 8) | flags, 0))
  return bytes
}

const word = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  putUint32(bytes, 0, value)
  return bytes
}

/** The first bytes of a client: the preface, its settings, and a connection window larger than a whole run needs. */
export function opening(settings: ReadonlyMap<number, number>, windowIncrement: number): Buffer {
  const list = [...settings].flatMap(([id, value]) => [Buffer.from([id >> 8, id]), word(value)])
  const update = frameOf(FRAME_TYPE.windowUpdate, 0, word(windowIncrement))
  return Buffer.concat([PREFACE, frameOf(FRAME_TYPE.settings, 0, Buffer.concat(list)), update])
}
