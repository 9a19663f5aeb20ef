import assert from 'node:assert/strict'
import { messagesOf } from '../fields.ts'
import { grpcHead } from '../messages.ts'

/** One call, ready to be sent, and its expected answer. */
export interface Call {
  readonly path: string
  /** The body, with its gRPC frames, in pieces that calls may share. */
  readonly pieces: readonly Buffer[]
  readonly bytes: number
  /** Bytes of blobs that the call transfers, uncompressed. */
  readonly contentBytes: number
  /** Answers to calls of one shape have equal lengths; undefined when the length varies. */
  readonly shape: string | undefined
  /** The expected bytes of data in a stream of answers; `counted` when they are counted but not known in advance. */
  readonly payloadBytes: number | 'counted' | undefined
  /** The hash of the data. */
  readonly payloadHash?: string
  /** Throws unless the whole body of the answer is correct. */
  verify(body: Buffer): void
}

export const total = (pieces: readonly Buffer[]): number => pieces.reduce((sum, piece) => sum + piece.length, 0)

/** A unary request whose answers all have the same length. */
export function unary(path: string, message: Buffer, rest: Pick<Call, 'contentBytes' | 'shape' | 'verify'>): Call {
  const pieces = [Buffer.concat([grpcHead(message.length), message])]
  return { path, pieces, bytes: total(pieces), payloadBytes: undefined, ...rest }
}

/** Returns the only message of an answer. */
export const sole = (body: Buffer): Buffer => {
  const [message, second] = messagesOf(body)
  assert.ok(message !== undefined && second === undefined, 'one message was expected')
  return message
}
