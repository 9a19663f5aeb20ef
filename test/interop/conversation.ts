import type { ListenAddress } from '../../src/grpc/address.ts'
import type { Method } from '../../src/grpc/service.ts'

/**
 * The interface that an interop test needs of any gRPC client and server, ours and others', so that one contract runs
 * over every pair of them. Messages are plain bytes everywhere.
 */
export interface InteropClient {
  /** Runs one call from its first message to its status; never rejects because of the server's behaviour. */
  converse(conversation: Conversation): Promise<Outcome>
  close(): void | Promise<void>
}

export interface InteropServer {
  readonly address: ListenAddress
  close(): void | Promise<void>
}

export interface Conversation {
  readonly method: string
  readonly kind: Method['kind']
  readonly messages: readonly Uint8Array[]
  readonly fields?: Fields
  readonly timeoutMs?: number
  /** Sends each message only after the response to the previous one. */
  readonly inTurns?: boolean
  /** Never half-closes its side. */
  readonly staysOpen?: boolean
  /** Cancels after this many responses. */
  readonly cancelAfter?: number
}

export interface Outcome {
  readonly code: number
  readonly message: string
  readonly answers: readonly Buffer[]
  readonly headers: Fields
  readonly trailers: Fields
  readonly details: Buffer | undefined
}

/** Metadata that begins with `x-`; values under a -bin name are bytes in base64. */
export type Fields = Readonly<Record<string, readonly string[]>>

/** The TLS material of both sides, in PEM. */
export interface Trust {
  readonly ca: string
  readonly cert?: string
  readonly key?: string
}

export const SERVICE = 'windlass.test.Interop'
export const METHODS: Readonly<Record<string, Method['kind']>> = {
  /** Returns its request. */
  Unary: 'unary',
  ServerStream: 'serverStreaming',
  ClientStream: 'clientStreaming',
  Bidi: 'bidi',
  /** Ends with the status and message in its request. */
  Fail: 'unary',
  /** Returns the metadata, both in headers and in trailers. */
  Metadata: 'unary',
  /** Responds to the first message without waiting for the end. */
  Early: 'clientStreaming',
  EarlyBidi: 'bidi',
  Large: 'serverStreaming',
  /** Responds once, then waits until the call is cancelled; Seen reports how it ended. */
  Slow: 'serverStreaming',
  Seen: 'unary',
}
/** The limit that every server and client here is configured with. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
/** Stacks with a smaller default are configured with this limit. */
export const MAX_METADATA_BYTES = 64 * 1024

/** Groups values by name. Stacks may join several text values with commas, which is equivalent. */
export function gatherFields(pairs: Iterable<readonly [name: string, value: string | Uint8Array]>): Fields {
  const fields: Record<string, string[]> = {}
  for (const [name, value] of pairs) {
    if (!name.startsWith('x-')) continue
    const values = typeof value === 'string' ? value.split(/, */) : [Buffer.from(value).toString('base64')]
    fields[name] = [...(fields[name] ?? []), ...values]
  }
  return fields
}

/** The same as pairs, with Buffers for binary fields. */
export const fieldPairs = (fields: Fields): [string, string | Buffer][] =>
  Object.entries(fields).flatMap(([name, values]) =>
    values.map((value): [string, string | Buffer] => [
      name,
      name.endsWith('-bin') ? Buffer.from(value, 'base64') : value,
    ]),
  )

/** In the syntax of grpc-js and gRPC's C core. */
export const targetOf = (address: ListenAddress): string =>
  'path' in address ? `unix:${address.path}` : `${address.host}:${address.port}`
