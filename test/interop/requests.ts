import { createHash } from 'node:crypto'

/** How tests word what they ask of the Interop service, and what they expect it to answer. */

const PATTERN = Buffer.from(Array.from({ length: 251 }, (_, i) => i))

/** Bytes whose period is prime to every frame and buffer size, so that a piece lost or moved shows. */
export const payload = (size: number): Buffer => Buffer.alloc(size, PATTERN)

/** For ServerStream: `count` times `answer`. */
export const repeat = (count: number, answer: Uint8Array): Buffer => Buffer.concat([uint32(count), answer])

/** For Large: `count` messages of `size` bytes. */
export const large = (count: number, size: number): Buffer => Buffer.concat([uint32(count), uint32(size)])

/** For Fail. */
export const failure = (code: number, message: string): Buffer =>
  Buffer.concat([uint32(code), Buffer.from(message, 'utf8')])

/** What ClientStream answers: how many messages, how many bytes, and their hash. */
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

/** Sent by Fail as grpc-status-details-bin, whatever it is asked. */
export const DETAILS = Buffer.from([0, 1, 2, 128, 254, 255, 10])
export const FAIL_TRAILERS = { 'x-why': ['because'], 'x-why-bin': [Buffer.from([0, 255, 7]).toString('base64')] }

/** What a server tells about its Slow and Large calls when asked with Seen. */
export interface Seen {
  readonly waiting: number
  readonly stopped: number
  /** Of the last call, when it began; null without a deadline. */
  readonly remainingMs: number | null
  /** Messages that the last call of Large has come to write. */
  readonly sent: number
}

/** A server keeps one of these. */
export type SeenSoFar = { -readonly [Key in keyof Seen]: Seen[Key] }

export const nothingSeen = (): SeenSoFar => ({ waiting: 0, stopped: 0, remainingMs: null, sent: 0 })
