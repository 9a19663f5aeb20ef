import type { ListenAddress } from '../../src/grpc/address.ts'
import type { Method } from '../../src/grpc/service.ts'

/**
 * What an interop test needs of any gRPC client and any gRPC server, ours and others', so that one contract can be run
 * over every pair of them. Messages are plain bytes everywhere.
 */
export interface InteropClient {
  /** Holds one call from its first word to its status; never rejects for what a server does. */
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
  /** Says each message only when the answer to the one before has come. */
  readonly inTurns?: boolean
  /** Never says that it has finished. */
  readonly staysOpen?: boolean
  /** Cancels once this many answers have come. */
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

/** What both ends need for TLS, in PEM. */
export interface Trust {
  readonly ca: string
  readonly cert?: string
  readonly key?: string
}

export const SERVICE = 'windlass.test.Interop'
export const METHODS: Readonly<Record<string, Method['kind']>> = {
  /** Answers what it was asked. */
  Unary: 'unary',
  ServerStream: 'serverStreaming',
  ClientStream: 'clientStreaming',
  Bidi: 'bidi',
  /** Ends with the status and message that it is given. */
  Fail: 'unary',
  /** Sends metadata back, both at the beginning and at the end. */
  Metadata: 'unary',
  /** Answers the first message without waiting for the end. */
  Early: 'clientStreaming',
  EarlyBidi: 'bidi',
  Large: 'serverStreaming',
  /** Answers once, then waits until the call is given up; Seen tells how that went. */
  Slow: 'serverStreaming',
  Seen: 'unary',
}
/** The limit that every server and client here is given. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
/** Where a stack takes less by default, it is told to take this. */
export const MAX_METADATA_BYTES = 64 * 1024

/** Gathers values under their names. Stacks may join several text values with commas, which means the same. */
export function gatherFields(pairs: Iterable<readonly [name: string, value: string | Uint8Array]>): Fields {
  const fields: Record<string, string[]> = {}
  for (const [name, value] of pairs) {
    if (!name.startsWith('x-')) continue
    const values = typeof value === 'string' ? value.split(/, */) : [Buffer.from(value).toString('base64')]
    fields[name] = [...(fields[name] ?? []), ...values]
  }
  return fields
}

/** The same as pairs, with bytes where bytes are meant. */
export const fieldPairs = (fields: Fields): [string, string | Buffer][] =>
  Object.entries(fields).flatMap(([name, values]) =>
    values.map((value): [string, string | Buffer] => [
      name,
      name.endsWith('-bin') ? Buffer.from(value, 'base64') : value,
    ]),
  )

/** As grpc-js and grpc's C core write it. */
export const targetOf = (address: ListenAddress): string =>
  'path' in address ? `unix:${address.path}` : `${address.host}:${address.port}`
