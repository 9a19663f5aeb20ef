/**
 * The server side of a minimal HTTP/2 connection. It does not decode headers, because each port serves one method, and
 * every answer is OK. It only respects the client's windows. The rest is the bytes that every server must move.
 */
import type { Socket } from 'node:net'
import {
  DEFAULT_FRAME_BYTES,
  DEFAULT_WINDOW,
  FLAG,
  FRAME_HEAD_BYTES,
  FRAME_TYPE,
  MAX_WINDOW,
  PREFACE,
  putFrameHeader,
  putUint32,
  SETTING,
} from '../../../src/grpc/http2/wire-format.ts'
import { frameOf } from '../../wire/generator/frame-reader.ts'
import { type Frame, FrameCutter } from '../generator/frame-cutter.ts'
import { borrow, giveBack } from './buffer-pool.ts'

/** `:status: 200` as an index; `content-type: application/grpc` and `grpc-status: 0` as literals. */
const HEAD = Buffer.from(`\x88\x0f\x10\x10application/grpc`, 'latin1')
const TRAILERS = Buffer.from(`\x00\x0bgrpc-status\x010`, 'latin1')
const GIVE_BACK_AT = 1 << 29
export const GRPC_HEAD_BYTES = 5

/** The work of one call. It receives the body as it arrives, in views that it may keep. */
export interface Work {
  data(bytes: Buffer): void
  /** Called after each read of the socket. */
  turn?(): void
  end(): void
}

export type StartWork = (answer: Answer) => Work

export class BareConnection {
  readonly socket: Socket
  readonly #start: StartWork
  readonly #works = new Map<number, Work>()
  readonly #cutter = new FrameCutter({ frame: (frame) => this.#frame(frame), data: (s, b, f) => this.#data(s, b, f) })
  readonly #answers = new Map<number, Answer>()
  #prefaceLeft = PREFACE.length
  #received = 0
  window = DEFAULT_WINDOW
  streamWindow = DEFAULT_WINDOW

  constructor(socket: Socket, start: StartWork) {
    this.socket = socket
    this.#start = start
    socket.setNoDelay(true)
    const settings = Buffer.alloc(6)
    settings.writeUInt16BE(SETTING.initialWindowSize, 0)
    settings.writeUInt32BE(MAX_WINDOW, 2)
    socket.write(frameOf(FRAME_TYPE.settings, 0, settings))
    this.#giveBack(MAX_WINDOW - DEFAULT_WINDOW)
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
    socket.on('drain', () => this.#resume())
    socket.on('error', () => socket.destroy())
  }

  forget(stream: number): void {
    this.#answers.delete(stream)
  }

  #read(bytes: Buffer): void {
    const skip = Math.min(this.#prefaceLeft, bytes.length)
    this.#prefaceLeft -= skip
    this.socket.cork()
    this.#cutter.read(bytes.subarray(skip))
    for (const work of this.#works.values()) work.turn?.()
    this.socket.uncork()
  }

  #data(stream: number, bytes: Buffer, flags: number): void {
    this.#received += bytes.length
    if (this.#received > GIVE_BACK_AT) {
      this.#giveBack(this.#received)
      this.#received = 0
    }
    const work = this.#works.get(stream)
    work?.data(bytes)
    if ((flags & FLAG.endStream) === 0) return
    this.#works.delete(stream)
    work?.turn?.()
    work?.end()
  }

  #giveBack(bytes: number): void {
    const update = Buffer.alloc(4)
    putUint32(update, 0, bytes)
    this.socket.write(frameOf(FRAME_TYPE.windowUpdate, 0, update))
  }

  #frame({ type, flags, stream, payload }: Frame): void {
    if (type === FRAME_TYPE.headers) {
      const answer = new Answer(this, stream)
      this.#answers.set(stream, answer)
      this.#works.set(stream, this.#start(answer))
    } else if (type === FRAME_TYPE.settings && (flags & FLAG.ack) === 0) {
      for (let at = 0; at + 6 <= payload.length; at += 6) {
        if (payload.readUInt16BE(at) === SETTING.initialWindowSize) this.streamWindow = payload.readUInt32BE(at + 2)
      }
      this.socket.write(frameOf(FRAME_TYPE.settings, FLAG.ack, Buffer.alloc(0)))
    } else if (type === FRAME_TYPE.windowUpdate) {
      const bytes = payload.readUInt32BE(0)
      const answer = this.#answers.get(stream)
      if (stream === 0) this.window += bytes
      else if (answer !== undefined) answer.window += bytes
      this.#resume()
    }
  }

  #resume(): void {
    for (const answer of this.#answers.values()) answer.onRoom?.()
  }
}

/** The answer on one stream. */
export class Answer {
  readonly #connection: BareConnection
  readonly #stream: number
  window: number
  /** Called when there may be more space in the send windows. */
  onRoom: (() => void) | undefined

  constructor(connection: BareConnection, stream: number) {
    this.#connection = connection
    this.#stream = stream
    this.window = connection.streamWindow
  }

  get room(): number {
    return this.#connection.socket.writableNeedDrain ? 0 : Math.min(this.window, this.#connection.window)
  }

  /**
   * Sends the whole answer to a unary call, which always fits the windows of our clients. `body` is a borrowed buffer:
   * space for the gRPC head, then the message up to `end`.
   */
  unary(body: Buffer, end: number): void {
    const { socket } = this.#connection
    body[0] = 0
    putUint32(body, 1, end - GRPC_HEAD_BYTES)
    const frames = Math.ceil(end / DEFAULT_FRAME_BYTES)
    const heads = Buffer.allocUnsafe(frames * FRAME_HEAD_BYTES)
    this.head()
    for (let i = 0; i < frames; i++) {
      const from = i * DEFAULT_FRAME_BYTES
      const part = body.subarray(from, Math.min(end, from + DEFAULT_FRAME_BYTES))
      putFrameHeader(heads, i * FRAME_HEAD_BYTES, part.length, FRAME_TYPE.data << 8, this.#stream)
      socket.write(heads.subarray(i * FRAME_HEAD_BYTES, (i + 1) * FRAME_HEAD_BYTES))
      socket.write(part)
    }
    this.#connection.window -= end
    this.finish(() => giveBack(body))
  }

  head(): void {
    this.#headers(HEAD, FLAG.endHeaders)
  }

  /** Sends frames with gaps for their headers. Their payload counts against the windows. */
  frames({ memory, bytes, views, payloadBytes }: Gapped): void {
    this.window -= payloadBytes
    this.#connection.window -= payloadBytes
    for (const [i, view] of views.entries()) {
      putFrameHeader(
        bytes,
        i * (FRAME_HEAD_BYTES + DEFAULT_FRAME_BYTES),
        view.length,
        FRAME_TYPE.data << 8,
        this.#stream,
      )
    }
    this.#connection.socket.write(bytes, () => giveBack(memory))
  }

  finish(sent?: () => void): void {
    this.#headers(TRAILERS, FLAG.endHeaders | FLAG.endStream, sent)
    this.#connection.forget(this.#stream)
  }

  #headers(block: Buffer, flags: number, sent?: () => void): void {
    const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + block.length)
    block.copy(frame, putFrameHeader(frame, 0, block.length, (FRAME_TYPE.headers << 8) | flags, this.#stream))
    this.#connection.socket.write(frame, sent)
  }
}

/** Space for payload, as consecutive frames in borrowed memory. */
export interface Gapped {
  readonly memory: Buffer
  readonly bytes: Buffer
  /** The places of the payload, in order. */
  readonly views: readonly Buffer[]
  readonly payloadBytes: number
}

export function gapped(payloadBytes: number): Gapped {
  const frames = Math.ceil(payloadBytes / DEFAULT_FRAME_BYTES)
  const length = payloadBytes + frames * FRAME_HEAD_BYTES
  const memory = borrow(length)
  const bytes = memory.subarray(0, length)
  const views = Array.from({ length: frames }, (_, i) => {
    const from = i * (DEFAULT_FRAME_BYTES + FRAME_HEAD_BYTES) + FRAME_HEAD_BYTES
    return bytes.subarray(from, from + DEFAULT_FRAME_BYTES)
  })
  return { memory, bytes, views, payloadBytes }
}
