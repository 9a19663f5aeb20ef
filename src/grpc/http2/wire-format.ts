/** The numbers of RFC 9113 that both ends of a connection need. */

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')
export const FRAME_HEAD_BYTES = 9
export const MAX_WINDOW = 0x7fffffff
export const DEFAULT_WINDOW = 65_535
export const DEFAULT_FRAME_BYTES = 16_384

export const FRAME_TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const

export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const

export const ERROR = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  connect: 10,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
  http11Required: 13,
} as const

/** The error code of a stream whose connection was lost. */
export const CONNECTION_LOST = -1

/** Closes a connection: thrown while a frame is read, caught by the caller of the frame reader. */
export class ConnectionFault extends Error {
  readonly code: number
  /** The name of the exceeded limit, when the peer is disconnected for abuse. */
  readonly flood: string | undefined

  constructor(code: number, message: string, flood?: string) {
    super(message)
    this.code = code
    this.flood = flood
  }
}

/** Writes the nine-byte header of a frame, with type and flags in one number. Returns the offset after it. */
export function putFrameHeader(
  target: Uint8Array,
  offset: number,
  length: number,
  typeAndFlags: number,
  stream: number,
): number {
  target[offset] = length >>> 16
  target[offset + 1] = length >>> 8
  target[offset + 2] = length
  target[offset + 3] = typeAndFlags >>> 8
  target[offset + 4] = typeAndFlags
  target[offset + 5] = stream >>> 24
  target[offset + 6] = stream >>> 16
  target[offset + 7] = stream >>> 8
  target[offset + 8] = stream
  return offset + FRAME_HEAD_BYTES
}

export function readUint32(source: Uint8Array, at: number): number {
  return (
    ((source[at] as number) * 0x1000000 +
      (((source[at + 1] as number) << 16) | ((source[at + 2] as number) << 8) | (source[at + 3] as number))) >>>
    0
  )
}

export function putUint32(target: Uint8Array, offset: number, value: number): number {
  target[offset] = value >>> 24
  target[offset + 1] = value >>> 16
  target[offset + 2] = value >>> 8
  target[offset + 3] = value
  return offset + 4
}
