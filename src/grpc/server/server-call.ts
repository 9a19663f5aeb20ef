import { metadataPairs } from '../header-text.ts'
import type { HeaderField, HeaderList } from '../hpack/header-field.ts'
import type { RequestHead } from '../http2/request-head.ts'
import type { Http2Stream, StreamReceiver } from '../http2/stream.ts'
import { CONNECTION_LOST, ERROR, FLAG, FRAME_TYPE, putFrameHeader } from '../http2/wire-format.ts'
import { Inbox } from '../inbox.ts'
import { lend, takeBack } from '../lent-buffers.ts'
import { COMPRESSED, PREFIX_BYTES, putPrefix, soleMessage } from '../message-parser.ts'
import { Metadata } from '../metadata.ts'
import { MessageOutlet } from '../outlet.ts'
import type { Incoming, Method, Outgoing, Peer, ServerCall } from '../service.ts'
import { GrpcError, type MetadataInit, STATUS, type StatusCode } from '../status.ts'
import { parseTimeout } from '../timeout.ts'
import { NOT_IN_WHEEL, type Timed } from '../timer-wheel.ts'
import { ACCEPTED_ENCODINGS, errorTrailers } from './response-blocks.ts'
import type { BudgetWaiter } from './response-budget.ts'
import type { Route } from './routes.ts'
import type { CallConnection } from './server-core.ts'

/**
 * One call on the server, from its head to its status.
 *
 * The common path is short and allocates little: a unary request in one piece, a handler that returns a response, and a
 * response that is written at once. Everything rarer (a signal, a deadline, metadata, streams) is created on demand.
 *
 * A call ends once, by the first of these events: its status was sent, the peer reset it, its deadline passed, or the
 * connection was lost. Its handler may run longer; its later output is discarded.
 */
export class ActiveCall implements StreamReceiver, ServerCall, Outgoing, Incoming, Timed, BudgetWaiter {
  readonly #connection: CallConnection
  readonly #stream: Http2Stream
  readonly #head: RequestHead
  readonly #route: Route
  readonly #startedAt: number
  #inbox: Inbox | undefined
  #outlet: MessageOutlet | undefined
  #over = false
  #handlerRuns = false
  #headSent = false
  #headMetadata: MetadataInit | undefined
  #trailers: MetadataInit | undefined
  #abort: AbortController | undefined
  #parkedRequest: Uint8Array | undefined
  wantedBytes = 0
  #promisedBytes = 0
  #roomWanted: PromiseWithResolvers<void> | undefined
  #lent: Buffer | undefined
  #metadata: Metadata | undefined
  #failure: GrpcError | undefined
  #bytesOut = 0
  deadline: number | undefined
  dueAt = 0
  wheelNext: Timed | undefined
  wheelPrevious: Timed | undefined
  wheelSlot = NOT_IN_WHEEL

  constructor(connection: CallConnection, stream: Http2Stream, head: RequestHead, route: Route) {
    this.#connection = connection
    this.#stream = stream
    this.#head = head
    this.#route = route
    this.#startedAt = connection.core.timing.now()
    stream.receiver = this
    route.observer.started()
  }

  // --- What handlers see --------------------------------------------------------------------------------------------

  get path(): string {
    return this.#route.path
  }

  get metadata(): Metadata {
    this.#metadata ??= new Metadata(this.#head.fields as HeaderField[])
    return this.#metadata
  }

  get peer(): Peer {
    return this.#connection.peer
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#over) this.#abort.abort(this.#failure)
    }
    return this.#abort.signal
  }

  get cancelled(): boolean {
    return this.#over
  }

  sendHeaders(metadata: MetadataInit): void {
    this.#headMetadata = { ...this.#headMetadata, ...metadata }
    if (!this.#over) this.#sendHead()
  }

  setTrailers(metadata: MetadataInit): void {
    // The trailers are validated now: after sending has started, errors can no longer be reported.
    metadataPairs(metadata)
    this.#trailers = { ...this.#trailers, ...metadata }
  }

  room(bytes: number): Promise<void> | undefined {
    if (this.#over) return this.#failure === undefined ? undefined : Promise.reject(this.#failure)
    if (this.#connection.room.take(this, bytes)) {
      this.#promisedBytes += bytes
      return undefined
    }
    this.wantedBytes = bytes
    this.#roomWanted = Promise.withResolvers()
    return this.#roomWanted.promise
  }

  lend(bytes: number): Uint8Array {
    if (bytes < LEAST_LENT_BYTES || this.#lent !== undefined) return Buffer.allocUnsafe(bytes)
    this.#lent = lend(bytes)
    return this.#lent.subarray(0, bytes)
  }

  write(message: Uint8Array | readonly Uint8Array[]): boolean {
    if (this.#over) return true
    this.#sendHead()
    const hasRoom = this.#out().write(message)
    if (this.#promisedBytes > 0) this.#giveBackRoom()
    return hasRoom
  }

  drained(): Promise<void> {
    return this.#failure === undefined ? this.#out().drained() : Promise.reject(this.#failure)
  }

  sent(): Promise<void> {
    return this.#failure === undefined ? this.#out().sent() : Promise.reject(this.#failure)
  }

  next(): Promise<Uint8Array | undefined> {
    return this.#failure === undefined ? this.#in().next() : Promise.reject(this.#failure)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let message = await this.next(); message !== undefined; message = await this.next()) yield message
  }

  // --- Callbacks of the stream --------------------------------------------------------------------------------------

  /** Checks the head, and starts the handler if it need not wait for the body. */
  begin(endStream: boolean): void {
    const { method } = this.#route
    if (method === undefined) {
      return this.fail(new GrpcError(STATUS.unimplemented, this.#connection.core.routes.explainMissing(this.path)))
    }
    if (this.#head.timeout !== undefined && !this.#setDeadline(this.#head.timeout)) return
    if (method.kind === 'clientStreaming' || method.kind === 'bidi') this.#runStreaming(method)
    if (endStream) this.#endInput()
  }

  onData(bytes: Uint8Array, endStream: boolean): void {
    if (this.#over) return
    try {
      if (!this.#connection.isWithinBudget()) throw OVER_BUDGET
      if (endStream && this.#inbox === undefined && !this.#takesStream) {
        const message = soleMessage(bytes, this.#connection.core.limits.maxMessageBytes)
        if (message !== undefined) {
          this.#dispatchLent(message)
          return
        }
      }
      this.#in().push(bytes)
      if (this.#in().hasMoreThanOne && !this.#takesStream) throw MORE_THAN_ONE
    } catch (error) {
      this.fail(error)
      return
    }
    if (endStream) this.#endInput()
  }

  onHeaders(_trailers: HeaderList, endStream: boolean): void {
    if (endStream && !this.#over) this.#endInput()
  }

  onReset(code: number, reason: string): void {
    if (this.#over) return
    const wasWilful = code === ERROR.cancel || code === ERROR.none || code === CONNECTION_LOST
    this.#end(wasWilful ? STATUS.cancelled : STATUS.internal, new GrpcError(STATUS.cancelled, reason))
  }

  onDrained(): void {
    this.#outlet?.onDrained()
  }

  onDue(): void {
    this.fail(new GrpcError(STATUS.deadlineExceeded, 'the deadline passed'))
  }

  // --- Running the handler ------------------------------------------------------------------------------------------

  #endInput(): void {
    try {
      const inbox = this.#in()
      inbox.end()
      if (this.#takesStream) return
      this.#dispatch(inbox.sole())
    } catch (error) {
      this.fail(error)
    }
  }

  get #takesStream(): boolean {
    const kind = this.#route.method?.kind
    return kind === 'clientStreaming' || kind === 'bidi'
  }

  /** Like `#dispatch`, for a request in the receive buffer, which will be overwritten soon. */
  #dispatchLent(request: Uint8Array): void {
    const { method } = this.#route
    if (method?.kind === 'unary' && method.readsAtOnce && !this.#connection.isCongested) this.#run(request)
    else this.#dispatch(Buffer.from(request))
  }

  /**
   * Runs a handler of one message. If the peer is too slow in reading other responses, the handler starts later. The
   * bytes of the request count as unread until the call ends, because a waiting handler keeps them.
   */
  #dispatch(request: Uint8Array): void {
    if (!this.#connection.isCongested) return this.#run(request)
    this.#parkedRequest = request
    this.#connection.room.waitToBegin(this)
  }

  onRoom(): void {
    const request = this.#parkedRequest
    this.#promisedBytes += this.wantedBytes
    this.wantedBytes = 0
    this.#roomWanted?.resolve()
    this.#roomWanted = undefined
    if (request === undefined) return
    this.#parkedRequest = undefined
    this.#run(request)
  }

  #giveBackRoom(): void {
    const bytes = this.#promisedBytes
    this.#promisedBytes = 0
    this.#connection.room.giveBack(bytes)
  }

  #run(request: Uint8Array): void {
    const method = this.#route.method as Method
    try {
      if (method.kind === 'unary') {
        const answer = method.handle(request, this)
        if (answer instanceof Uint8Array) this.#answer(answer)
        else this.#await(answer, (message) => this.#answer(message))
      } else if (method.kind === 'serverStreaming') {
        const done = method.handle(request, this, this)
        if (done === undefined) this.#succeed()
        else this.#await(done, () => this.#succeed())
      }
    } catch (error) {
      this.fail(error)
    }
  }

  #runStreaming(method: Method): void {
    try {
      if (method.kind === 'clientStreaming') this.#await(method.handle(this, this), (message) => this.#answer(message))
      else if (method.kind === 'bidi') this.#await(method.handle(this, this, this), () => this.#succeed())
    } catch (error) {
      this.fail(error)
    }
  }

  #await<T>(done: Promise<T>, succeed: (value: T) => void): void {
    this.#handlerRuns = true
    done.then(
      (value) => {
        this.#handlerEnded()
        try {
          succeed(value)
        } catch (error) {
          this.fail(error)
        }
      },
      (error: unknown) => {
        this.#handlerEnded()
        this.fail(error)
      },
    )
  }

  #handlerEnded(): void {
    this.#handlerRuns = false
    if (this.#stream.gone) this.#connection.http2.lingering--
  }

  /** The connection has removed the stream. A handler that still runs continues to count as a stream. */
  onStreamGone(): void {
    if (this.#handlerRuns) this.#connection.http2.lingering++
    // After a failure the handler may still write to the buffer: then it is left to the garbage collector.
    else if (this.#over && this.#failure === undefined) {
      if (this.#lent !== undefined) takeBack(this.#lent)
      this.#inbox?.release()
    }
    this.#lent = undefined
  }

  // --- Answering ----------------------------------------------------------------------------------------------------

  #answer(message: Uint8Array): void {
    if (this.#over) return
    const { http2, blocks } = this.#connection
    const stream = this.#stream
    const size = message.length + PREFIX_BYTES
    if (
      this.#headSent ||
      this.#headMetadata !== undefined ||
      this.#trailers !== undefined ||
      !http2.turns.hasRoomFor(stream, size)
    ) {
      this.#sendHead()
      this.#out().write(message)
      return this.#succeed()
    }
    const { outbox } = http2
    const head = blocks.head()
    const trailers = blocks.ok()
    outbox.reserve(27 + head.length + size + trailers.length)
    const { buffer } = outbox
    let at = putFrameHeader(buffer, outbox.end, head.length, HEAD_FRAME, stream.id)
    for (let i = 0; i < head.length; i++) buffer[at++] = head[i] as number
    at = putFrameHeader(buffer, at, size, FRAME_TYPE.data << 8, stream.id)
    at = putPrefix(buffer, at, message.length)
    buffer.set(message, at)
    at = putFrameHeader(buffer, at + message.length, trailers.length, TRAILERS_FRAME, stream.id)
    for (let i = 0; i < trailers.length; i++) buffer[at++] = trailers[i] as number
    outbox.end = at
    this.#bytesOut = size
    this.#end(STATUS.ok, undefined)
    http2.wroteWhole(stream, size)
  }

  #sendHead(): void {
    if (this.#headSent) return
    const { http2, blocks } = this.#connection
    const block = this.#headMetadata === undefined ? blocks.head() : blocks.headWith(this.#headMetadata)
    this.#headSent = true
    http2.writeHeaderBlock(this.#stream.id, block, false)
  }

  #succeed(): void {
    if (this.#over) return
    const { blocks } = this.#connection
    const trailers = this.#trailers
    this.#sendHead()
    this.#end(STATUS.ok, undefined)
    this.#stream.finish(trailers === undefined ? () => blocks.ok() : () => blocks.okWith(trailers))
  }

  /**
   * Ends the call with a status. Any error but a GrpcError is a bug of the handler; its text is not sent to the client.
   */
  fail(error: unknown): void {
    if (this.#over) return
    const failure = error instanceof GrpcError ? error : this.#reportBug(error)
    const { blocks } = this.#connection
    const block = this.#errorBlock(failure)
    const wasHeadSent = this.#headSent
    this.#end(failure.code, failure)
    // Queued, not written at once: a thousand calls may fail together, and their peer may need time to read.
    this.#stream.finish(() => (wasHeadSent ? blocks.other(block) : blocks.headAnd(block)))
  }

  #errorBlock(failure: GrpcError): Buffer {
    try {
      const trailers = { ...this.#trailers, ...failure.trailers }
      const details = failure.details === undefined ? {} : { details: failure.details }
      const block = errorTrailers(failure.code, failure.message, { ...details, trailers })
      return failure === COMPRESSED ? Buffer.concat([block, ACCEPTED_ENCODINGS]) : block
    } catch (error) {
      // Trailers that cannot be sent are a bug of the handler; the status is still sent.
      this.#reportBug(error)
      return errorTrailers(failure.code, failure.message, {})
    }
  }

  #reportBug(error: unknown): GrpcError {
    this.#connection.core.observer.handlerFailed(this.path, error)
    return new GrpcError(STATUS.internal, 'internal error')
  }

  /** The call has ended: reports it once, removes its deadline, and wakes all waiters. */
  #end(code: StatusCode, failure: GrpcError | undefined): void {
    this.#over = true
    this.#failure = failure
    const { core } = this.#connection
    if (this.wheelSlot !== NOT_IN_WHEEL) core.wheel.remove(this)
    const durationMs = core.timing.now() - this.#startedAt
    this.#route.observer.finished(code, durationMs, this.#stream.receivedBytes, this.#outlet?.bytes ?? this.#bytesOut)
    if (this.#promisedBytes > 0) this.#giveBackRoom()
    if (failure === undefined) return
    if (this.#parkedRequest !== undefined || this.#roomWanted !== undefined) {
      this.#parkedRequest = undefined
      this.#connection.room.leave(this)
      this.#roomWanted?.reject(failure)
    }
    this.#abort?.abort(failure)
    this.#inbox?.fail(failure)
    this.#outlet?.fail(failure)
  }

  #setDeadline(timeout: string): boolean {
    const ms = parseTimeout(timeout)
    if (ms === undefined) {
      this.fail(new GrpcError(STATUS.internal, `malformed grpc-timeout ${JSON.stringify(timeout)}`))
      return false
    }
    this.deadline = this.#startedAt + ms
    this.dueAt = this.deadline
    this.#connection.core.wheel.add(this)
    return true
  }

  #in(): Inbox {
    this.#inbox ??= new Inbox(this.#stream, this.#connection.core.limits.maxMessageBytes, this.#keepsNothing)
    return this.#inbox
  }

  get #keepsNothing(): boolean {
    const { method } = this.#route
    return method !== undefined && 'keepsNothing' in method && method.keepsNothing === true
  }

  #out(): MessageOutlet {
    this.#outlet ??= new MessageOutlet(this.#stream)
    return this.#outlet
  }
}

/** Smaller buffers come from Node's own pool, or cost little. */
const LEAST_LENT_BYTES = 32 * 1024
const HEAD_FRAME = (FRAME_TYPE.headers << 8) | FLAG.endHeaders
const TRAILERS_FRAME = (FRAME_TYPE.headers << 8) | FLAG.endHeaders | FLAG.endStream
const MORE_THAN_ONE = new GrpcError(STATUS.internal, 'expected one message, got more')
const OVER_BUDGET = new GrpcError(STATUS.resourceExhausted, 'too much unread input is waiting here; try again later')
