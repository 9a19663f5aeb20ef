/** HTTP/2 frames encoded and decoded by hand, so that tests can send invalid ones. */
import type { HeaderPair } from '../grpc/header-text.ts'
import { DEFAULT_FRAME_BYTES, ERROR, FLAG, FRAME_TYPE, PREFACE, readUint32 } from '../grpc/http2/wire-format.ts'
import { PREFIX_BYTES, putPrefix } from '../grpc/message-parser.ts'
import { literals } from '../grpc/server/response-blocks.ts'

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

const NOTHING = Buffer.alloc(0)

export function frame(head: { type: number; flags?: number; stream?: number }, payload: Uint8Array = NOTHING): Buffer {
  const bytes = Buffer.alloc(9 + payload.length)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes[3] = head.type
  bytes[4] = head.flags ?? 0
  bytes.writeUInt32BE(head.stream ?? 0, 5)
  bytes.set(payload, 9)
  return bytes
}

const number = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * i)
  return bytes
}

export function settings(...entries: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * entries.length)
  for (const [i, [id, value]] of entries.entries()) {
    payload.writeUInt16BE(id, 6 * i)
    payload.writeUInt32BE(value >>> 0, 6 * i + 2)
  }
  return frame({ type: FRAME_TYPE.settings }, payload)
}

export const settingsAck = frame({ type: FRAME_TYPE.settings, flags: FLAG.ack })

/** The client's connection preface. */
export const greeting = (...entries: readonly (readonly [id: number, value: number])[]): Buffer =>
  Buffer.concat([PREFACE, settings(...entries)])

export const ping = (flags = 0, payload: Uint8Array = Buffer.alloc(8)): Buffer =>
  frame({ type: FRAME_TYPE.ping, flags }, payload)

export const reset = (stream: number, code: number = ERROR.cancel): Buffer =>
  frame({ type: FRAME_TYPE.rstStream, stream }, number(code))

export const windowUpdate = (stream: number, increment: number): Buffer =>
  frame({ type: FRAME_TYPE.windowUpdate, stream }, number(increment))

export const goaway = (lastStream: number, code: number = ERROR.none): Buffer =>
  frame({ type: FRAME_TYPE.goaway }, number(lastStream, code))

export const priority = (stream: number, parent: number, weight = 16): Buffer =>
  frame({ type: FRAME_TYPE.priority, stream }, Buffer.concat([number(parent), Buffer.from([weight])]))

export const data = (stream: number, payload: Uint8Array, flags = 0): Buffer =>
  frame({ type: FRAME_TYPE.data, flags, stream }, payload)

export const lastData = (stream: number, payload: Uint8Array): Buffer => data(stream, payload, FLAG.endStream)

/** A body with this many bytes of padding, and the length byte. */
export const paddedData = (
  stream: number,
  payload: Uint8Array,
  { padding, flags = 0 }: { padding: number; flags?: number },
): Buffer => data(stream, Buffer.concat([Buffer.from([padding]), payload, Buffer.alloc(padding)]), flags | FLAG.padded)

export const headers = (stream: number, block: Uint8Array, flags: number = FLAG.endHeaders): Buffer =>
  frame({ type: FRAME_TYPE.headers, flags, stream }, block)

export const continuation = (stream: number, block: Uint8Array, flags = 0): Buffer =>
  frame({ type: FRAME_TYPE.continuation, flags, stream }, block)

/** A block in HEADERS and as many CONTINUATION frames as needed. */
export function longHeaders(stream: number, block: Uint8Array, flags = 0): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at === 0 || at < block.length; at += DEFAULT_FRAME_BYTES) {
    const piece = block.subarray(at, at + DEFAULT_FRAME_BYTES)
    const isLast = at + DEFAULT_FRAME_BYTES >= block.length ? FLAG.endHeaders : 0
    pieces.push(at === 0 ? headers(stream, piece, flags | isLast) : continuation(stream, piece, isLast))
  }
  return Buffer.concat(pieces)
}

/** A gRPC request's header block, as literals. */
export const requestBlock = (path: string, ...more: readonly HeaderPair[]): Buffer =>
  literals([
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', path],
    [':authority', 'localhost'],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
    ...more,
  ])

/** One gRPC message: its prefix, then its bytes. */
export function message(bytes: Uint8Array): Buffer {
  const whole = Buffer.alloc(PREFIX_BYTES + bytes.length)
  whole.set(bytes, putPrefix(whole, 0, bytes.length))
  return whole
}

/** A whole unary call. */
export const call = (stream: number, path: string, request: Uint8Array = NOTHING): Buffer =>
  Buffer.concat([headers(stream, requestBlock(path)), lastData(stream, message(request))])

/** Splits a byte stream into frames; an incomplete one is kept for the next call. */
export class FrameCutter {
  #rest: Buffer = NOTHING

  push(bytes: Buffer): Frame[] {
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const frames: Frame[] = []
    while (rest.length >= 9) {
      const end = 9 + rest.readUIntBE(0, 3)
      if (rest.length < end) break
      const [type, flags] = [rest[3] as number, rest[4] as number]
      frames.push({ type, flags, stream: readUint32(rest, 5) & 0x7fffffff, payload: rest.subarray(9, end) })
      rest = rest.subarray(end)
    }
    this.#rest = rest
    return frames
  }
}

export const cutFrames = (bytes: Buffer): Frame[] => new FrameCutter().push(bytes)

const TYPE_NAMES = Object.fromEntries(Object.entries(FRAME_TYPE).map(([name, type]) => [type, name]))

/** `headers 1 end`, `data 3 (100)`, `rstStream 5 code 8`: a readable form for comparisons. */
export function describeFrame({ type, flags, stream, payload }: Frame): string {
  const name = TYPE_NAMES[type] ?? `type${type}`
  const isAck = (type === FRAME_TYPE.settings || type === FRAME_TYPE.ping) && (flags & FLAG.ack) !== 0
  const isEnd = (type === FRAME_TYPE.headers || type === FRAME_TYPE.data) && (flags & FLAG.endStream) !== 0
  const words = [name, ...(stream === 0 ? [] : [stream])]
  if (type === FRAME_TYPE.data) words.push(`(${payload.length})`)
  if (type === FRAME_TYPE.windowUpdate) words.push(`+${readUint32(payload, 0)}`)
  if (type === FRAME_TYPE.rstStream) words.push(`code ${readUint32(payload, 0)}`)
  if (type === FRAME_TYPE.goaway) words.push(`code ${readUint32(payload, 4)}`)
  if (isAck) words.push('ack')
  if (isEnd) words.push('end')
  return words.join(' ')
}
