import type { Metadata } from './metadata.ts'
import type { MetadataInit } from './status.ts'

/**
 * The methods of a server, on bytes: this library has no message format, and the code that registers a method has its
 * codec. A handler returns a message or throws GrpcError; any other error becomes INTERNAL and is reported to the
 * observer, not to the client.
 */
export interface Service {
  /** Fully qualified, as in the path: `grpc.health.v1.Health`. */
  readonly name: string
  readonly methods: Readonly<Record<string, Method>>
}

export type Method = UnaryMethod | ServerStreamingMethod | ClientStreamingMethod | BidiMethod

export interface UnaryMethod {
  readonly kind: 'unary'
  /** The handler does not read the request after it has returned a promise or a value. */
  readonly readsAtOnce?: true
  /** The handler keeps no part of the request after it has answered. This makes large requests cheaper. */
  readonly keepsNothing?: true
  handle(request: Uint8Array, call: ServerCall): Uint8Array | Promise<Uint8Array>
}

export interface ServerStreamingMethod {
  readonly kind: 'serverStreaming'
  handle(request: Uint8Array, out: Outgoing, call: ServerCall): void | Promise<void>
}

/** The handler may return before the client has finished: later messages are then discarded without an error. */
export interface ClientStreamingMethod {
  readonly kind: 'clientStreaming'
  /** The handler keeps no part of a message after it has requested the next. This makes large messages cheaper. */
  readonly keepsNothing?: true
  handle(requests: Incoming, call: ServerCall): Promise<Uint8Array>
}

export interface BidiMethod {
  readonly kind: 'bidi'
  handle(requests: Incoming, out: Outgoing, call: ServerCall): Promise<void>
}

/** Messages from the peer. Reading one returns its bytes to the peer's window: a slow reader slows the peer down. */
export interface Incoming extends AsyncIterable<Uint8Array> {
  /** The next message, or undefined at the end. Rejects when the call was cancelled or its deadline passed. */
  next(): Promise<Uint8Array | undefined>
}

/** Messages to the peer. */
export interface Outgoing {
  /**
   * Queues one message, whole or in parts that need not be joined. The bytes must stay unchanged. Returns false when
   * the peer is behind: then await `drained()` before the next message. Messages of a call that has ended are
   * discarded.
   */
  write(message: Uint8Array | readonly Uint8Array[]): boolean
  /** Resolves when more may be written; rejects when the call has ended. */
  drained(): Promise<void>
  /** Resolves when all written bytes were sent, so that the caller may reuse them. */
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
  /** Aborts when the client cancels, the deadline passes or the connection is lost. Created when it is first read. */
  readonly signal: AbortSignal
  /** The same as `signal.aborted`, without creating a signal. */
  readonly cancelled: boolean
  /**
   * Reserves budget for a response of this many bytes, before the handler fetches them. Undefined means continue; a
   * promise resolves when the peer has read enough of the queued output, and rejects when the call has ended.
   */
  room(bytes: number): Promise<void> | undefined
  /**
   * Memory for a response (or its largest part), exactly this long and not cleared. It is reused after the response was
   * sent, so the handler must not keep it. At most once per call.
   */
  lend(bytes: number): Uint8Array
  /** Sends initial metadata now; otherwise it is sent with the first message. */
  sendHeaders(metadata: MetadataInit): void
  /** Adds trailing metadata, which is sent after the last message. */
  setTrailers(metadata: MetadataInit): void
}
