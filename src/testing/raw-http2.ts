import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { HpackDecoder } from '../grpc/hpack/decoder.ts'
import type { HeaderField } from '../grpc/hpack/header-field.ts'
import { FLAG, FRAME_TYPE, readUint32 } from '../grpc/http2/wire-format.ts'
import { describeFrame, type Frame, FrameCutter, greeting, ping, settingsAck } from './http2-frames.ts'

/** The received frames of one stream. */
export interface RawStream {
  /** All HEADERS, in order: the response headers, then the trailers. */
  readonly fields: HeaderField[]
  dataBytes: number
  readonly data: Buffer[]
  hasEnded: boolean
  resetCode: number | undefined
}

export interface RawHttp2Options {
  /** Our own SETTINGS. */
  readonly settings?: readonly (readonly [id: number, value: number])[]
  /** Payloads of DATA are only counted by default. */
  readonly keepsData?: boolean
  /** Sends nothing by itself, not even the preface. */
  readonly isMute?: boolean
}

const GUARD_MS = 60_000

/** A client that sends exactly what the test specifies, and records what it receives. */
export class RawHttp2 {
  readonly #socket: Socket
  readonly #options: RawHttp2Options
  readonly #cutter = new FrameCutter()
  readonly #decoder = new HpackDecoder({ maxTableBytes: 4096, maxListBytes: 1 << 20 })
  readonly #streams = new Map<number, RawStream>()
  readonly #watchers = new Set<() => void>()
  /** All frames except DATA, in order. */
  readonly frames: Frame[] = []
  dataBytes = 0
  goaway: { lastStream: number; code: number; reason: string } | undefined
  isClosed = false
  #pingsAnswered = 0

  private constructor(socket: Socket, options: RawHttp2Options) {
    this.#socket = socket
    this.#options = options
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => {
      for (const frame of this.#cutter.push(bytes)) this.#onFrame(frame)
      this.#changed()
    })
    socket.on('drain', () => this.#changed())
    socket.on('error', () => {}) // many tests provoke a closed connection
    socket.on('close', () => {
      this.isClosed = true
      this.#changed()
    })
  }

  static async open(port: number, options: RawHttp2Options = {}): Promise<RawHttp2> {
    const socket = connect({ host: '127.0.0.1', port })
    await once(socket, 'connect')
    const raw = new RawHttp2(socket, options)
    if (options.isMute !== true) raw.send(greeting(...(options.settings ?? [])), settingsAck)
    return raw
  }

  send(...bytes: readonly Uint8Array[]): void {
    this.#socket.write(Buffer.concat(bytes))
  }

  /** Sends in pieces and waits for the network in between; returns false when the server closed meanwhile. */
  async sendAll(pieces: Iterable<Uint8Array>, batchBytes = 1 << 16): Promise<boolean> {
    let batch: Uint8Array[] = []
    let size = 0
    const flush = async () => {
      if (!this.isClosed && this.goaway === undefined && !this.#socket.write(Buffer.concat(batch))) {
        await this.until('the network takes what was sent', () => !this.#socket.writableNeedDrain)
      }
      batch = []
      size = 0
    }
    for (const piece of pieces) {
      batch.push(piece)
      size += piece.length
      if (size >= batchBytes) await flush()
      if (this.isClosed || this.goaway !== undefined) return false
    }
    await flush()
    return !this.isClosed && this.goaway === undefined
  }

  stream(id: number): RawStream {
    let stream = this.#streams.get(id)
    if (stream === undefined) {
      stream = { fields: [], dataBytes: 0, data: [], hasEnded: false, resetCode: undefined }
      this.#streams.set(id, stream)
    }
    return stream
  }

  /** The value of a field of this stream's response. */
  field(id: number, name: string): string | undefined {
    return this.stream(id).fields.find((field) => field.name === name)?.value
  }

  count(type: number, stream?: number): number {
    return this.frames.filter((frame) => frame.type === type && (stream ?? frame.stream) === frame.stream).length
  }

  describe(): string[] {
    return this.frames.map(describeFrame)
  }

  /** Resolves when the server has received everything that was sent so far. */
  async roundTrip(): Promise<void> {
    const before = this.#pingsAnswered
    this.send(ping())
    await this.until('the server answers a ping', () => this.#pingsAnswered > before || this.isClosed)
  }

  /** Waits for the end of a stream, of any kind. */
  async answer(id: number): Promise<RawStream> {
    const stream = this.stream(id)
    await this.until(`stream ${id} ends`, () => stream.hasEnded || stream.resetCode !== undefined || this.isClosed)
    return stream
  }

  async untilClosed(): Promise<void> {
    await this.until('the server closes the connection', () => this.isClosed)
  }

  async until(what: string, isSo: () => boolean): Promise<void> {
    if (isSo()) return
    await new Promise<void>((resolve, reject) => {
      const guard = setTimeout(() => {
        this.#watchers.delete(look)
        reject(new Error(`waited in vain until ${what}; last frames: ${this.describe().slice(-10).join(', ')}`))
      }, GUARD_MS)
      const look = () => {
        if (!isSo()) return
        clearTimeout(guard)
        this.#watchers.delete(look)
        resolve()
      }
      this.#watchers.add(look)
    })
  }

  /** Stops reading from the socket; the kernel still receives until its buffers are full. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  close(): void {
    this.#socket.destroy()
  }

  #changed(): void {
    for (const look of this.#watchers) look()
  }

  #onFrame(frame: Frame): void {
    const { type, flags, payload } = frame
    if (type !== FRAME_TYPE.data) this.frames.push({ ...frame, payload: ownCopy(payload) })
    if (type === FRAME_TYPE.goaway) {
      const reason = payload.toString('utf8', 8)
      this.goaway = { lastStream: readUint32(payload, 0), code: readUint32(payload, 4), reason }
    }
    if (type === FRAME_TYPE.ping && (flags & FLAG.ack) !== 0) this.#pingsAnswered++
    else if (type === FRAME_TYPE.ping && this.#options.isMute !== true) this.send(ping(FLAG.ack, payload))
    if (frame.stream === 0) return
    const stream = this.stream(frame.stream)
    if (type === FRAME_TYPE.rstStream) stream.resetCode = readUint32(payload, 0)
    if (type === FRAME_TYPE.headers) stream.fields.push(...this.#decoder.decode(payload, 0, payload.length).fields)
    if (type === FRAME_TYPE.data) this.#onData(stream, payload)
    if ((type === FRAME_TYPE.headers || type === FRAME_TYPE.data) && (flags & FLAG.endStream) !== 0)
      stream.hasEnded = true
  }

  #onData(stream: RawStream, payload: Buffer): void {
    this.dataBytes += payload.length
    stream.dataBytes += payload.length
    if (this.#options.keepsData === true) stream.data.push(payload)
  }
}

/** A copy: a view would keep a whole read in memory, and a pooled buffer its neighbours. */
function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.alloc(bytes.length)
  bytes.copy(copy)
  return copy
}
