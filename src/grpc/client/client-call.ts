import { decodeMessage } from '../header-text.ts'
import { FIELD, type HeaderList } from '../hpack/header-field.ts'
import { responseStatus } from '../http2/request-head.ts'
import type { Http2Stream, StreamReceiver } from '../http2/stream.ts'
import { CONNECTION_LOST, ERROR } from '../http2/wire-format.ts'
import { Inbox } from '../inbox.ts'
import { Later } from '../later.ts'
import { COMPRESSED } from '../message-parser.ts'
import { Metadata } from '../metadata.ts'
import { MessageOutlet } from '../outlet.ts'
import type { Incoming, Outgoing } from '../service.ts'
import { GrpcError, STATUS, type StatusCode } from '../status.ts'
import { NOT_IN_WHEEL, type Timed, type TimerWheel } from '../timer-wheel.ts'
import { statusFromHttp, statusFromReset } from './http-status.ts'

/** A call as its caller sees it. Messages are read by `next` or iteration. A failed call ends with a GrpcError. */
export interface ClientCall extends Incoming, Outgoing {
  /** Ends the request: no more messages will be written. */
  finish(): void
  /** Initial metadata of the response; rejects when the call failed before it arrived. */
  readonly headers: Promise<Metadata>
  /** Trailing metadata of a successful call; rejects with the GrpcError of a failed one. */
  readonly trailers: Promise<Metadata>
  cancel(reason?: string): void
}

export interface UnaryAnswer {
  readonly message: Uint8Array
  readonly headers: Metadata
  readonly trailers: Metadata
}

/** Decides whether a call that the server refused unprocessed may be retried. */
export type CallEnd = (error: GrpcError | undefined, wasProcessed: boolean) => void

const COMPRESSED_ANSWER = new GrpcError(
  STATUS.internal,
  'the server compressed its response although this client accepts no compression',
)
const NO_FIELDS = new Metadata([])

export interface ClientStreamOptions {
  /** A second response would violate the protocol. */
  readonly hasSoleAnswer: boolean
  readonly onEnd: CallEnd
}

/** The parts of a connection that its calls use. */
interface CallConnection {
  readonly limits: { readonly maxMessageBytes: number }
  readonly wheel: TimerWheel
}

/** One attempt of a call on one connection. */
export class ClientStream implements StreamReceiver, ClientCall, Timed {
  readonly #connection: CallConnection
  readonly #stream: Http2Stream
  readonly #inbox: Inbox
  readonly #outlet: MessageOutlet
  readonly #onEnd: CallEnd
  readonly #hasSoleAnswer: boolean
  readonly #headers = new Later<Metadata>()
  readonly #trailers = new Later<Metadata>()
  #head = NO_FIELDS
  #tail = NO_FIELDS
  #headSeen = false
  #over = false
  dueAt = 0
  wheelNext: Timed | undefined
  wheelPrevious: Timed | undefined
  wheelSlot = NOT_IN_WHEEL

  constructor(connection: CallConnection, stream: Http2Stream, { hasSoleAnswer, onEnd }: ClientStreamOptions) {
    this.#connection = connection
    this.#stream = stream
    this.#onEnd = onEnd
    this.#hasSoleAnswer = hasSoleAnswer
    this.#inbox = new Inbox(stream, connection.limits.maxMessageBytes)
    this.#outlet = new MessageOutlet(stream)
    stream.receiver = this
  }

  get headers(): Promise<Metadata> {
    return this.#headers.promise
  }

  get trailers(): Promise<Metadata> {
    return this.#trailers.promise
  }

  write(message: Uint8Array | readonly Uint8Array[]): boolean {
    return this.#over ? true : this.#outlet.write(message)
  }

  drained(): Promise<void> {
    return this.#over ? Promise.resolve() : this.#outlet.drained()
  }

  sent(): Promise<void> {
    return this.#over ? Promise.resolve() : this.#outlet.sent()
  }

  finish(): void {
    this.#stream.finish(undefined)
  }

  next(): Promise<Uint8Array | undefined> {
    return this.#inbox.next()
  }

  /** Returns the response of a successful call that must have exactly one message. */
  soleAnswer(): UnaryAnswer {
    return { message: this.#inbox.sole(), headers: this.#head, trailers: this.#tail }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (let message = await this.next(); message !== undefined; message = await this.next()) yield message
    } finally {
      this.cancel('the reader stopped reading')
    }
  }

  cancel(reason = 'cancelled by the caller'): void {
    this.abort(new GrpcError(STATUS.cancelled, reason))
  }

  /** Cancels the call with `error`. */
  abort(error: GrpcError): void {
    if (this.#over) return
    this.#stream.reset(ERROR.cancel)
    this.#end(error, true)
  }

  onDue(): void {
    this.abort(new GrpcError(STATUS.deadlineExceeded, 'the deadline passed'))
  }

  onHeaders(list: HeaderList, endStream: boolean): void {
    if (this.#over) return
    if (this.#headSeen) {
      if (endStream) this.#conclude(list)
      else this.#refuse(new GrpcError(STATUS.internal, 'headers in the middle of an answer'))
      return
    }
    const status = list.overflowed ? undefined : responseStatus(list)
    if (status === undefined) return this.#refuse(new GrpcError(STATUS.internal, 'a malformed answer'))
    if (status >= 100 && status < 200 && !endStream) return
    const hasStatus = list.fields.some((field) => field.kind === FIELD.grpcStatus)
    if (status !== 200 && !hasStatus) {
      return this.#refuse(new GrpcError(statusFromHttp(status), `the server answered with HTTP status ${status}`))
    }
    this.#headSeen = true
    this.#head = new Metadata(list.fields)
    this.#headers.resolve(this.#head)
    if (endStream) this.#conclude(list)
  }

  onData(bytes: Uint8Array, endStream: boolean): void {
    if (this.#over) return
    try {
      if (!this.#headSeen) throw new GrpcError(STATUS.internal, 'data before headers')
      this.#inbox.push(bytes)
      if (this.#hasSoleAnswer && this.#inbox.hasMoreThanOne) this.#inbox.sole()
    } catch (error) {
      this.#refuse(error === COMPRESSED ? COMPRESSED_ANSWER : (error as GrpcError))
      return
    }
    if (endStream) this.#end(new GrpcError(STATUS.internal, 'the server ended its answer without a status'), true)
  }

  onReset(code: number, reason: string): void {
    if (this.#over) return
    const wasProcessed = code !== ERROR.refusedStream
    const unanswered = code === CONNECTION_LOST
    this.#end(new GrpcError(statusFromReset(code), reason, { unanswered }), wasProcessed)
  }

  onDrained(): void {
    this.#outlet.onDrained()
  }

  /** The server did not process this call: its GOAWAY named an earlier stream as the last. */
  turnedAway(): void {
    this.#stream.reset(ERROR.cancel)
    if (!this.#over) this.#end(new GrpcError(STATUS.unavailable, 'the server is going away'), false)
  }

  #conclude(list: HeaderList): void {
    const trailers = new Metadata(list.fields)
    const text = trailers.get('grpc-status')
    if (text === '0') return this.#succeed(trailers)
    const code = text === undefined || !/^\d{1,2}$/.test(text) ? STATUS.unknown : Number(text)
    const message = decodeMessage(trailers.get('grpc-message') ?? '')
    const [details] = trailers.getBinary('grpc-status-details-bin')
    const init = { trailers: trailers.toInit(), ...(details === undefined ? {} : { details }) }
    this.#end(new GrpcError((code > 16 ? STATUS.unknown : code) as StatusCode, message, init), true)
  }

  #succeed(trailers: Metadata): void {
    try {
      this.#inbox.end()
    } catch (error) {
      return this.#end(error as GrpcError, true)
    }
    this.#over = true
    this.#tail = trailers
    this.#leave()
    // The server answered without reading everything, so writers need not wait either.
    this.#outlet.onDrained()
    this.#trailers.resolve(trailers)
    this.#onEnd(undefined, true)
  }

  #refuse(error: GrpcError): void {
    this.#stream.reset(ERROR.cancel)
    this.#end(error, true)
  }

  #end(error: GrpcError, wasProcessed: boolean): void {
    this.#over = true
    this.#leave()
    this.#inbox.fail(error)
    this.#outlet.fail(error)
    this.#headers.reject(error)
    this.#trailers.reject(error)
    this.#onEnd(error, wasProcessed)
  }

  #leave(): void {
    this.#connection.wheel.remove(this)
    // The server has answered; further request messages would be useless.
    if (!this.#stream.localClosed) this.#stream.reset(ERROR.none)
  }
}
