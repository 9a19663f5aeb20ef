import type { Http2Limits } from './limits.ts'
import type { Outbox } from './outbox.ts'
import { DEFAULT_FRAME_BYTES, FLAG, FRAME_TYPE, PREFACE, putFrameHeader, putUint32, SETTING } from './wire-format.ts'

/** Writes the control frames of a connection to the outbox. */

const PING_BYTES = 8
const MAX_REASON_BYTES = 256

export function putWindowUpdate(outbox: Outbox, stream: number, increment: number): void {
  outbox.reserve(13)
  const at = putFrameHeader(outbox.buffer, outbox.end, 4, FRAME_TYPE.windowUpdate << 8, stream)
  outbox.end = putUint32(outbox.buffer, at, increment)
}

export function putReset(outbox: Outbox, stream: number, code: number): void {
  outbox.reserve(13)
  const at = putFrameHeader(outbox.buffer, outbox.end, 4, FRAME_TYPE.rstStream << 8, stream)
  outbox.end = putUint32(outbox.buffer, at, code)
}

export function putSettingsAck(outbox: Outbox): void {
  outbox.reserve(9)
  outbox.end = putFrameHeader(outbox.buffer, outbox.end, 0, (FRAME_TYPE.settings << 8) | FLAG.ack, 0)
}

export function putPing(outbox: Outbox): void {
  outbox.reserve(17)
  const at = putFrameHeader(outbox.buffer, outbox.end, PING_BYTES, FRAME_TYPE.ping << 8, 0)
  outbox.buffer.fill(0, at, at + PING_BYTES)
  outbox.end = at + PING_BYTES
}

export function putPingAck(outbox: Outbox, buffer: Buffer, start: number): void {
  outbox.reserve(17)
  const at = putFrameHeader(outbox.buffer, outbox.end, PING_BYTES, (FRAME_TYPE.ping << 8) | FLAG.ack, 0)
  outbox.end = at + buffer.copy(outbox.buffer, at, start, start + PING_BYTES)
}

export function putGoaway(outbox: Outbox, lastStream: number, code: number, reason: string): void {
  const debug = Buffer.from(reason, 'utf8').subarray(0, MAX_REASON_BYTES)
  outbox.reserve(17 + debug.length)
  let at = putFrameHeader(outbox.buffer, outbox.end, 8 + debug.length, FRAME_TYPE.goaway << 8, 0)
  at = putUint32(outbox.buffer, at, lastStream)
  at = putUint32(outbox.buffer, at, code)
  outbox.end = at + debug.copy(outbox.buffer, at)
}

/** The first bytes of a connection: the client's preface, then SETTINGS of both ends. */
export function putGreeting(outbox: Outbox, role: 'server' | 'client', limits: Http2Limits): void {
  const settings: [number, number][] = [
    [SETTING.initialWindowSize, limits.initialWindowBytes],
    [SETTING.maxHeaderListSize, limits.maxHeaderBytes],
    role === 'server' ? [SETTING.maxConcurrentStreams, limits.maxConcurrentStreams] : [SETTING.enablePush, 0],
  ]
  if (limits.maxFrameBytes !== DEFAULT_FRAME_BYTES) settings.push([SETTING.maxFrameSize, limits.maxFrameBytes])
  outbox.reserve(PREFACE.length + 9 + settings.length * 6)
  if (role === 'client') outbox.end += PREFACE.copy(outbox.buffer, outbox.end)
  let at = putFrameHeader(outbox.buffer, outbox.end, settings.length * 6, FRAME_TYPE.settings << 8, 0)
  for (const [id, value] of settings) {
    outbox.buffer[at] = id >> 8
    outbox.buffer[at + 1] = id
    at = putUint32(outbox.buffer, at + 2, value)
  }
  outbox.end = at
}

/** Writes a header block as HEADERS and, if it is longer than the peer's maximum frame size, CONTINUATION. */
export function putHeaderBlock(
  outbox: Outbox,
  stream: number,
  block: Uint8Array,
  { maxFrameBytes, endStream }: { maxFrameBytes: number; endStream: boolean },
): void {
  let type: number = FRAME_TYPE.headers
  let flags: number = endStream ? FLAG.endStream : 0
  let at = 0
  do {
    const size = Math.min(maxFrameBytes, block.length - at)
    if (at + size === block.length) flags |= FLAG.endHeaders
    outbox.reserve(size + 9)
    const start = putFrameHeader(outbox.buffer, outbox.end, size, (type << 8) | flags, stream)
    outbox.buffer.set(size === block.length ? block : block.subarray(at, at + size), start)
    outbox.end = start + size
    type = FRAME_TYPE.continuation
    flags = 0
    at += size
  } while (at < block.length)
}
