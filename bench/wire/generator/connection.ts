/**
 * The client side of one HTTP/2 connection. It is as cheap as possible, but complete: it sends the calls of a script,
 * respects the server's windows and limits, checks the status in the trailers of every answer, and counts.
 */
import { connect, type Socket } from 'node:net'
import { HpackDecoder } from '../../../src/grpc/hpack/decoder.ts'
import { FIELD, type HeaderList } from '../../../src/grpc/hpack/header-field.ts'
import { DEFAULT_WINDOW, FLAG, FRAME_TYPE, MAX_WINDOW, SETTING } from '../../../src/grpc/http2/wire-format.ts'
import { type Frame, FrameReader, frameOf, opening } from './frame-reader.ts'
import type { Script } from './script.ts'

const READ_BYTES = 256 * 1024
const TABLE_BYTES = 4096
const MOST_HEADER_BYTES = 16_384
const OPENING = opening(
  new Map([
    [SETTING.enablePush, 0],
    [SETTING.initialWindowSize, MAX_WINDOW],
  ]),
  MAX_WINDOW - DEFAULT_WINDOW,
)

export interface Listener {
  /** This call of the script was answered with OK. */
  answered(call: number): void
  failed(why: string): void
}

export class Connection {
  readonly #script: Script
  readonly #listener: Listener
  readonly #socket: Socket
  readonly #decoder = new HpackDecoder({ maxTableBytes: TABLE_BYTES, maxListBytes: MOST_HEADER_BYTES })
  readonly #reader = new FrameReader((frame) => this.#frame(frame))
  #window = DEFAULT_WINDOW
  #maxStreams = MAX_WINDOW
  #allowed = 0
  /** True during a socket read. All that it allows is sent in one write after it. */
  #reading = false
  sent = 0
  done = 0

  constructor(port: number, script: Script, listener: Listener) {
    this.#script = script
    this.#listener = listener
    const callback = (length: number, bytes: Uint8Array) => this.#read(bytes, length)
    const onread = { buffer: Buffer.alloc(READ_BYTES), callback }
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true, onread })
    this.#socket.on('error', (error) => listener.failed(error.message))
    this.#socket.on('close', () => listener.failed('the server closed the connection'))
    this.#socket.write(OPENING)
  }

  get dataBytes(): number {
    return this.#reader.dataBytes
  }

  /** Allows calls up to this index of the script; they are sent as soon as the server's limits allow it. */
  allow(calls: number): void {
    this.#allowed = Math.min(calls, this.#script.count)
    if (!this.#reading) this.#send()
  }

  close(): void {
    this.#socket.removeAllListeners('close').destroy()
  }

  #send(): void {
    const { ends, bytes, dataBytes } = this.#script
    const streams = this.#maxStreams - (this.sent - this.done)
    const calls = Math.min(this.#allowed - this.sent, streams, Math.floor(this.#window / dataBytes))
    if (calls <= 0) return
    const from = ends[this.sent]
    this.sent += calls
    this.#window -= calls * dataBytes
    this.#socket.write(bytes.subarray(from, ends[this.sent]))
  }

  #read(bytes: Uint8Array, length: number): boolean {
    try {
      this.#reading = true
      this.#reader.read(Buffer.from(bytes.buffer, bytes.byteOffset, length))
      this.#reading = false
      this.#send()
    } catch (error) {
      this.close()
      this.#listener.failed(error instanceof Error ? error.message : String(error))
    }
    return true
  }

  #frame({ type, flags, stream, payload }: Frame): void {
    if (type === FRAME_TYPE.headers) this.#headers(payload, flags, stream)
    else if (type === FRAME_TYPE.windowUpdate && stream === 0) this.#window += payload.readUInt32BE(0)
    else if (type === FRAME_TYPE.settings && (flags & FLAG.ack) === 0) this.#settings(payload)
    else if (type === FRAME_TYPE.ping && (flags & FLAG.ack) === 0)
      this.#socket.write(frameOf(FRAME_TYPE.ping, FLAG.ack, payload))
    else if (type === FRAME_TYPE.rstStream) throw new Error(`the server reset a call: code ${payload.readUInt32BE(0)}`)
    else if (type === FRAME_TYPE.goaway) throw new Error(`the server said goodbye: code ${payload.readUInt32BE(4)}`)
  }

  #headers(block: Buffer, flags: number, stream: number): void {
    const unexpected = FLAG.padded | FLAG.priority
    if ((flags & unexpected) !== 0 || (flags & FLAG.endHeaders) === 0) throw new Error('an unusual header block')
    // Response headers are decoded too, because they also change the table. The decoder caches repeated blocks.
    const list = this.#decoder.decode(block, 0, block.length)
    if ((flags & FLAG.endStream) === 0) return
    list.understood ??= statusOf(list)
    if (list.understood !== '0') throw new Error(`a call ended with grpc-status ${list.understood}`)
    this.done++
    this.#listener.answered((stream - 1) / 2)
  }

  #settings(payload: Buffer): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      const value = payload.readUInt32BE(at + 2)
      const id = payload.readUInt16BE(at)
      if (id === SETTING.maxConcurrentStreams) this.#maxStreams = value
      const tooSmall =
        (id === SETTING.headerTableSize && value < TABLE_BYTES) ||
        (id === SETTING.initialWindowSize && value < this.#script.dataBytes)
      if (tooSmall) throw new Error(`these calls are not made for a server with setting ${id} = ${value}`)
    }
    this.#socket.write(frameOf(FRAME_TYPE.settings, FLAG.ack, Buffer.alloc(0)))
  }
}

const statusOf = ({ fields }: HeaderList): string =>
  fields.find((field) => field.kind === FIELD.grpcStatus)?.value ?? 'missing'
