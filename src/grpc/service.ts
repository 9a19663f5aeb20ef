import type { Metadata } from './metadata.ts'
import type { MetadataInit } from './status.ts'

/**
 * What a server offers, in bytes: this engine knows no message format, codecs belong to whoever registers a method.
 * A handler answers with a message, or throws GrpcError; anything else thrown becomes INTERNAL (and reaches the
 * observer), never the client.
 */
export interface Service {
  /** Fully qualified, as in the path: `grpc.health.v1.Health`. */
  readonly name: string
  readonly methods: Readonly<Record<string, Method>>
}

export type Method = UnaryMethod | ServerStreamingMethod | ClientStreamingMethod | BidiMethod

export interface UnaryMethod {
  readonly kind: 'unary'
  /** Says that the handler does not look at the request after it has returned, be it with a promise. */
  readonly readsAtOnce?: true
  /** Says that the handler keeps nothing of the request, once it has answered. Large requests are cheaper then. */
  readonly keepsNothing?: true
  handle(request: Uint8Array, call: ServerCall): Uint8Array | Promise<Uint8Array>
}

export interface ServerStreamingMethod {
  readonly kind: 'serverStreaming'
  handle(request: Uint8Array, out: Outgoing, call: ServerCall): void | Promise<void>
}

/** May answer before the client has finished: what still arrives is then discarded without an error. */
export interface ClientStreamingMethod {
  readonly kind: 'clientStreaming'
  /** Says that the handler keeps nothing of a message, once it has asked for the next. Large ones are cheaper then. */
  readonly keepsNothing?: true
  handle(requests: Incoming, call: ServerCall): Promise<Uint8Array>
}

export interface BidiMethod {
  readonly kind: 'bidi'
  handle(requests: Incoming, out: Outgoing, call: ServerCall): Promise<void>
}

/** Messages from the other side. Taking one gives its bytes back to the peer's window: a slow taker slows the peer. */
export interface Incoming extends AsyncIterable<Uint8Array> {
  /** The next message, or undefined at the end. Rejects when the call was cancelled or its deadline passed. */
  next(): Promise<Uint8Array | undefined>
}

/** Messages to the other side. */
export interface Outgoing {
  /**
   * Queues one message, given whole or in parts that need not be joined. The bytes must stay unchanged.
   * False means the peer is behind: await `drained()` before the next. A call that is over swallows the message.
   */
  write(message: Uint8Array | readonly Uint8Array[]): boolean
  /** Resolves when there is room again; rejects when the call is over. */
  drained(): Promise<void>
  /** Resolves when all that was written has left our hands, so that its bytes may be used again. */
  sent(): Promise<void>
}

export interface Peer {
  /** `127.0.0.1:54321`, or `unix:` for a socket file. */
  readonly address: string
  /** Subject common name of a verified client certificate (mTLS). */
  readonly certificateName: string | undefined
}

export interface ServerCall {
  readonly path: string
  readonly metadata: Metadata
  readonly peer: Peer
  /** On the clock of the server's `Timing`; undefined when the client set no deadline. */
  readonly deadline: number | undefined
  /** Aborts when the client cancels, the deadline passes or the connection is lost. Made when first read. */
  readonly signal: AbortSignal
  /** The same as `signal.aborted`, without making a signal. */
  readonly cancelled: boolean
  /**
   * To be asked by whoever is about to fetch many bytes for an answer, with how many: undefined says to go on, a
   * promise resolves when the peer has taken enough of what waits for it, and rejects when the call is over.
   */
  room(bytes: number): Promise<void> | undefined
  /**
   * Memory for an answer (or its largest part): exactly as long, with anything in it. It is used again once the answer
   * has left, so nobody may keep it. Asked for once in a call; several at once are nobody's gain.
   */
  lend(bytes: number): Uint8Array
  /** Sends initial metadata now; otherwise it goes out with the first message. */
  sendHeaders(metadata: MetadataInit): void
  /** Adds to what will be sent after the last message. */
  setTrailers(metadata: MetadataInit): void
}
