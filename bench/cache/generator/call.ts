import assert from 'node:assert/strict'
import { messagesOf } from '../fields.ts'
import { grpcHead } from '../messages.ts'

/** One call, ready to be sent, and what must come back. */
export interface Call {
  readonly path: string
  /** The body, gRPC frames included, in pieces that calls may share. */
  readonly pieces: readonly Buffer[]
  readonly bytes: number
  /** What the call moves, up or down: blobs as they are, uncompressed. */
  readonly contentBytes: number
  /** Answers to calls of one shape are equally long; undefined when their length says nothing. */
  readonly shape: string | undefined
  /** The bytes of data in a stream of answers, or that they are counted though nobody knows how many to expect. */
  readonly payloadBytes: number | 'counted' | undefined
  /** And their hash. */
  readonly payloadHash?: string
  /** Throws unless the whole body of the answer is right. */
  verify(body: Buffer): void
}

export const total = (pieces: readonly Buffer[]): number => pieces.reduce((sum, piece) => sum + piece.length, 0)

/** A unary request of which every answer is as long as the next. */
export function unary(path: string, message: Buffer, rest: Pick<Call, 'contentBytes' | 'shape' | 'verify'>): Call {
  const pieces = [Buffer.concat([grpcHead(message.length), message])]
  return { path, pieces, bytes: total(pieces), payloadBytes: undefined, ...rest }
}

/** The only message of an answer. */
export const sole = (body: Buffer): Buffer => {
  const [message, second] = messagesOf(body)
  assert.ok(message !== undefined && second === undefined, 'one message was expected')
  return message
}
