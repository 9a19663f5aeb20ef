import { createHash } from 'node:crypto'

/** Encodes requests to the Interop service, and the responses that tests expect. */

const PATTERN = Buffer.from(Array.from({ length: 251 }, (_, i) => i))

/** Bytes whose period is coprime to every frame and buffer size, so that a lost or moved chunk is detected. */
export const payload = (size: number): Buffer => Buffer.alloc(size, PATTERN)

/** For ServerStream: `count` times `answer`. */
export const repeat = (count: number, answer: Uint8Array): Buffer => Buffer.concat([uint32(count), answer])

/** For Large: `count` messages of `size` bytes. */
export const large = (count: number, size: number): Buffer => Buffer.concat([uint32(count), uint32(size)])

/** For Fail. */
export const failure = (code: number, message: string): Buffer =>
  Buffer.concat([uint32(code), Buffer.from(message, 'utf8')])

/** The response of ClientStream: the number of messages, their bytes and their hash. */
export function tally(messages: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256')
  let bytes = 0
  for (const message of messages) {
    hash.update(message)
    bytes += message.length
  }
  return Buffer.concat([uint32(messages.length), uint32(bytes), hash.digest()])
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Sent by Fail as grpc-status-details-bin for every request. */
export const DETAILS = Buffer.from([0, 1, 2, 128, 254, 255, 10])
export const FAIL_TRAILERS = { 'x-why': ['because'], 'x-why-bin': [Buffer.from([0, 255, 7]).toString('base64')] }

/** The response of Seen: statistics on a server's Slow and Large calls. */
export interface Seen {
  readonly waiting: number
  readonly stopped: number
  /** The remaining deadline of the last call at its start; null without a deadline. */
  readonly remainingMs: number | null
  /** The number of messages that the last Large call has written. */
  readonly sent: number
}

/** The mutable form that a server keeps. */
export type SeenSoFar = { -readonly [Key in keyof Seen]: Seen[Key] }

export const nothingSeen = (): SeenSoFar => ({ waiting: 0, stopped: 0, remainingMs: null, sent: 0 })
