/**
 * The client side of one HTTP/2 connection. It is as cheap as possible, but complete: it respects the server's windows,
 * frame size and stream limit, updates its own windows like real clients, and checks the status of every answer.
 */
import { connect, type Socket } from 'node:net'
import { HpackDecoder } from '../../../src/grpc/hpack/decoder.ts'
import { FIELD } from '../../../src/grpc/hpack/header-field.ts'
import {
  DEFAULT_FRAME_BYTES,
  DEFAULT_WINDOW,
  FLAG,
  FRAME_HEAD_BYTES,
  FRAME_TYPE,
  MAX_WINDOW,
  putFrameHeader,
  putUint32,
  SETTING,
} from '../../../src/grpc/http2/wire-format.ts'
import { frameOf, opening } from '../../wire/generator/frame-reader.ts'
import { HpackWriter } from '../../wire/generator/hpack-writer.ts'
import type { Call } from './call.ts'
import { type Attention, Exchange } from './exchange.ts'
import { type Frame, FrameCutter } from './frame-cutter.ts'

const READ_BYTES = 512 * 1024
const TABLE_BYTES = 4096
const STREAM_WINDOW = 16 * 1024 * 1024
const CONNECTION_WINDOW = 64 * 1024 * 1024
/** The most bytes in the socket's buffer; more would only be queued. */
const MOST_UNSENT = 1024 * 1024
const OPENING = opening(
  new Map([
    [SETTING.enablePush, 0],
    [SETTING.initialWindowSize, STREAM_WINDOW],
  ]),
  CONNECTION_WINDOW - DEFAULT_WINDOW,
)

export interface Listener {
  /** The answer is OK, and the server has read the whole request. */
  answered(exchange: Exchange): void
  failed(why: string): void
}

export class Connection {
  readonly #listener: Listener
  readonly #socket: Socket
  readonly #decoder = new HpackDecoder({ maxTableBytes: TABLE_BYTES, maxListBytes: 65_536 })
  readonly #writer = new HpackWriter(false)
  readonly #blocks = new Map<string, Buffer>()
  readonly #under = new Map<number, Exchange>()
  /** Exchanges with unsent bytes, in round-robin order. */
  readonly #sending: Exchange[] = []
  readonly #waiting: { call: Call; attention: Attention }[] = []
  readonly #cutter = new FrameCutter({ frame: (frame) => this.#frame(frame), data: (s, b, f) => this.#data(s, b, f) })
  #window = DEFAULT_WINDOW
  #streamWindow = DEFAULT_WINDOW
  #maxStreams = 100
  #unacknowledged = 0
  #nextStream = 1

  constructor(port: number, listener: Listener) {
    this.#listener = listener
    const callback = (length: number, bytes: Uint8Array) => this.#read(bytes, length)
    const onread = { buffer: Buffer.alloc(READ_BYTES), callback }
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true, onread })
    this.#socket.on('error', (error) => listener.failed(error.message))
    this.#socket.on('close', () => listener.failed('the server closed the connection'))
    this.#socket.on('drain', () => this.#pump())
    this.#socket.write(OPENING)
  }

  start(call: Call, attention: Attention): void {
    this.#waiting.push({ call, attention })
    if (this.#socket.writableCorked === 0) this.#pump()
  }

  close(): void {
    this.#socket.removeAllListeners('close').destroy()
  }

  /** Sends all that the windows allow in one write. */
  #pump(): void {
    this.#socket.cork()
    while (this.#under.size < this.#maxStreams) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      this.#open(next.call, next.attention)
    }
    let idle = 0
    while (idle < this.#sending.length && this.#socket.writableLength < MOST_UNSENT && this.#window > 0) {
      const exchange = this.#sending.shift() as Exchange
      idle = this.#sendSome(exchange) ? 0 : idle + 1
      if (exchange.unsent > 0) this.#sending.push(exchange)
    }
    this.#socket.uncork()
  }

  #open(call: Call, attention: Attention): void {
    const stream = this.#nextStream
    this.#nextStream += 2
    const exchange = new Exchange(call, stream, { window: this.#streamWindow, attention })
    this.#under.set(stream, exchange)
    const block = this.#blockOf(call.path)
    const fits = call.bytes <= Math.min(this.#window, this.#streamWindow, DEFAULT_FRAME_BYTES)
    const frames = Buffer.allocUnsafe(FRAME_HEAD_BYTES * (fits ? 2 : 1) + block.length + (fits ? call.bytes : 0))
    let at = putFrameHeader(frames, 0, block.length, (FRAME_TYPE.headers << 8) | FLAG.endHeaders, stream)
    at += block.copy(frames, at)
    if (fits) {
      at = putFrameHeader(frames, at, call.bytes, (FRAME_TYPE.data << 8) | FLAG.endStream, stream)
      for (const piece of exchange.take(call.bytes)) at += piece.copy(frames, at)
      this.#window -= call.bytes
    } else this.#sending.push(exchange)
    this.#socket.write(frames)
  }

  /** From the second call of a path on, its header block consists only of indexes. */
  #blockOf(path: string): Buffer {
    const known = this.#blocks.get(path)
    if (known !== undefined) return known
    const write = () =>
      Buffer.from(
        this.#writer.write([
          [':authority', '127.0.0.1'],
          [':path', path],
          [':method', 'POST'],
          [':scheme', 'http'],
          ['content-type', 'application/grpc'],
          ['te', 'trailers'],
          ['user-agent', 'windlass-bench'],
        ]),
      )
    const first = write()
    this.#blocks.set(path, write())
    return first
  }

  #sendSome(exchange: Exchange): boolean {
    const bytes = Math.min(exchange.unsent, exchange.window, this.#window, DEFAULT_FRAME_BYTES)
    if (bytes <= 0) return false
    exchange.window -= bytes
    this.#window -= bytes
    const views = exchange.take(bytes)
    const end = exchange.unsent === 0 ? FLAG.endStream : 0
    const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES)
    putFrameHeader(head, 0, bytes, (FRAME_TYPE.data << 8) | end, exchange.stream)
    this.#socket.write(head)
    for (const view of views) this.#socket.write(view)
    return true
  }

  #read(bytes: Uint8Array, length: number): boolean {
    try {
      this.#socket.cork()
      this.#cutter.read(Buffer.from(bytes.buffer, bytes.byteOffset, length))
      this.#pump()
      this.#socket.uncork()
    } catch (error) {
      this.close()
      this.#listener.failed(error instanceof Error ? error.message : String(error))
    }
    return true
  }

  #data(stream: number, bytes: Buffer, flags: number): void {
    if ((flags & FLAG.padded) !== 0) throw new Error('padded data was not expected')
    this.#unacknowledged += bytes.length
    if (this.#unacknowledged > CONNECTION_WINDOW / 2) {
      this.#giveBack(0, this.#unacknowledged)
      this.#unacknowledged = 0
    }
    const exchange = this.#under.get(stream)
    if (exchange === undefined) return
    exchange.receive(bytes)
    if (exchange.unacknowledged > STREAM_WINDOW / 2) {
      this.#giveBack(stream, exchange.unacknowledged)
      exchange.unacknowledged = 0
    }
  }

  #giveBack(stream: number, bytes: number): void {
    const update = Buffer.alloc(FRAME_HEAD_BYTES + 4)
    putUint32(update, putFrameHeader(update, 0, 4, FRAME_TYPE.windowUpdate << 8, stream), bytes)
    this.#socket.write(update)
  }

  #frame(frame: Frame): void {
    const { type, flags, stream, payload } = frame
    if (type === FRAME_TYPE.headers) this.#headers(frame)
    else if (type === FRAME_TYPE.windowUpdate) this.#windowUpdate(stream, payload.readUInt32BE(0))
    else if (type === FRAME_TYPE.settings && (flags & FLAG.ack) === 0) this.#settings(payload)
    else if (type === FRAME_TYPE.ping && (flags & FLAG.ack) === 0)
      this.#socket.write(frameOf(FRAME_TYPE.ping, FLAG.ack, payload))
    else if (type === FRAME_TYPE.rstStream && this.#under.has(stream)) {
      throw new Error(`the server reset a call: code ${payload.readUInt32BE(0)}`)
    } else if (type === FRAME_TYPE.goaway)
      throw new Error(`the server said goodbye: ${payload.subarray(4).toString('latin1')}`)
  }

  #headers({ payload, flags, stream }: Frame): void {
    const unexpected = FLAG.padded | FLAG.priority
    if ((flags & unexpected) !== 0 || (flags & FLAG.endHeaders) === 0) throw new Error('an unusual header block')
    // Response headers are decoded too, because they also change the table. The decoder caches repeated blocks.
    const { fields } = this.#decoder.decode(payload, 0, payload.length)
    if ((flags & FLAG.endStream) === 0) return
    const status = fields.find((field) => field.kind === FIELD.grpcStatus)?.value ?? 'missing'
    const exchange = this.#under.get(stream)
    if (exchange === undefined) throw new Error('an answer to no call')
    if (status !== '0') {
      const message = fields.find((field) => field.name === 'grpc-message')?.value ?? ''
      throw new Error(`${exchange.call.path} ended with grpc-status ${status} ${message}`)
    }
    if (exchange.unsent > 0) throw new Error(`${exchange.call.path} was answered before all of it was sent`)
    this.#under.delete(stream)
    this.#listener.answered(exchange)
  }

  #windowUpdate(stream: number, bytes: number): void {
    if (stream === 0) this.#window += bytes
    const exchange = this.#under.get(stream)
    if (exchange !== undefined) exchange.window += bytes
  }

  #settings(payload: Buffer): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      const value = payload.readUInt32BE(at + 2)
      const id = payload.readUInt16BE(at)
      if (id === SETTING.maxConcurrentStreams) this.#maxStreams = Math.min(value, MAX_WINDOW)
      if (id === SETTING.headerTableSize && value < TABLE_BYTES) throw new Error('these calls need a header table')
      if (id !== SETTING.initialWindowSize) continue
      for (const exchange of this.#under.values()) exchange.window += value - this.#streamWindow
      this.#streamWindow = value
    }
    this.#socket.write(frameOf(FRAME_TYPE.settings, FLAG.ack, Buffer.alloc(0)))
  }
}
