import { type HeaderPair, metadataPairs } from '../header-text.ts'
import type { Timing } from '../http2/timing.ts'
import { Later } from '../later.ts'
import type { Metadata } from '../metadata.ts'
import { GrpcError, type MetadataInit, STATUS } from '../status.ts'
import { formatTimeout } from '../timeout.ts'
import { NOT_IN_WHEEL, type Timed, type TimerWheel } from '../timer-wheel.ts'
import type { CallOptions } from './call-options.ts'
import type { ClientCall, ClientStream, UnaryAnswer } from './client-call.ts'
import type { ClientConnection } from './client-connection.ts'

export interface PendingCallOptions extends CallOptions {
  /** The only request message of the call: it can be sent again when a server refused the call unprocessed. */
  readonly message?: Uint8Array
  /** For a call with one response: the only promise that is made for it. */
  readonly answer?: PromiseWithResolvers<UnaryAnswer>
}

/** The parts of a channel that its calls use. */
interface CallDialer {
  readonly options: {
    readonly timing: Timing
    readonly tls?: object
    readonly metadata?: MetadataInit
    readonly userAgent?: string
  }
  readonly wheel: TimerWheel
  readonly authority: string
  /** Starts the call on a connection, now or when a stream is free. */
  submit(call: PendingCall): void
  withdraw(call: PendingCall): void
}

const MAX_TRIES = 3

/**
 * A call from its creation: it waits for a connection, runs on it as a ClientStream, and moves to another connection
 * when the server refused it unprocessed (REFUSED_STREAM, GOAWAY).
 */
export class PendingCall implements ClientCall, Timed {
  readonly #dialer: CallDialer
  readonly #path: string
  readonly #options: PendingCallOptions
  readonly #started = new Later<ClientStream>()
  #stream: ClientStream | undefined
  /** Messages that the caller wrote before there was a connection. */
  #early: (Uint8Array | readonly Uint8Array[])[] = []
  #earlyFinish = false
  #tries = 0
  #metadata: readonly HeaderPair[] = []
  #over = false
  readonly #onAbort: () => void
  dueAt = 0
  wheelNext: Timed | undefined
  wheelPrevious: Timed | undefined
  wheelSlot = NOT_IN_WHEEL

  constructor(dialer: CallDialer, path: string, options: PendingCallOptions) {
    this.#dialer = dialer
    this.#path = path
    this.#options = options
    this.#onAbort = () => this.#abort(new GrpcError(STATUS.cancelled, 'cancelled by the caller'))
    if (options.timeoutMs !== undefined) this.dueAt = dialer.options.timing.now() + options.timeoutMs
    if (options.signal?.aborted === true) this.#onAbort()
    else this.#begin()
  }

  /** Invalid metadata fails the call here, before anything is sent. */
  #readMetadata(): HeaderPair[] {
    const { metadata } = this.#dialer.options
    return [...metadataPairs(metadata ?? {}), ...metadataPairs(this.#options.metadata ?? {})]
  }

  #begin(): void {
    try {
      this.#metadata = this.#readMetadata()
    } catch (error) {
      return this.fail(error as GrpcError)
    }
    this.#options.signal?.addEventListener('abort', this.#onAbort, { once: true })
    if (this.#options.timeoutMs !== undefined) this.#dialer.wheel.add(this)
    this.#dialer.submit(this)
  }

  get isPatient(): boolean {
    return this.#options.waitForReady === true
  }

  /** Starts the call on a connection, and sends the messages that were written so far. */
  start(connection: ClientConnection): void {
    this.#tries++
    const stream = connection.open(this.#head(), {
      hasSoleAnswer: this.#options.answer !== undefined,
      onEnd: (error, wasProcessed) => this.#ended(error, wasProcessed),
    })
    this.#stream = stream
    const { message } = this.#options
    if (message !== undefined) {
      stream.write(message)
      stream.finish()
    }
    for (const early of this.#early) stream.write(early)
    if (this.#earlyFinish) stream.finish()
    // A call that may still move to another connection is visible to the caller only after the server has accepted it.
    if (this.#options.answer !== undefined) return
    if (message === undefined || this.#tries === MAX_TRIES) this.#started.resolve(stream)
    else
      stream.headers.then(
        () => this.#started.resolve(stream),
        () => {},
      )
  }

  fail(error: GrpcError): void {
    if (this.#over) return
    this.#end()
    this.#started.reject(error)
    this.#settle(error)
  }

  onDue(): void {
    this.#abort(new GrpcError(STATUS.deadlineExceeded, 'the deadline passed'))
  }

  #settle(error: GrpcError | undefined): void {
    const { answer } = this.#options
    if (answer === undefined) return
    try {
      if (error !== undefined) throw error
      answer.resolve((this.#stream as ClientStream).soleAnswer())
    } catch (failure) {
      answer.reject(failure)
    }
  }

  // --- The call as its caller sees it -------------------------------------------------------------------------------

  write(message: Uint8Array | readonly Uint8Array[]): boolean {
    if (this.#over) return true
    if (this.#stream !== undefined) return this.#stream.write(message)
    this.#early.push(message)
    return false
  }

  async drained(): Promise<void> {
    await (await this.#started.promise).drained()
  }

  async sent(): Promise<void> {
    await (await this.#started.promise).sent()
  }

  finish(): void {
    this.#earlyFinish = true
    this.#stream?.finish()
  }

  async next(): Promise<Uint8Array | undefined> {
    return await (await this.#started.promise).next()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    yield* await this.#started.promise
  }

  get headers(): Promise<Metadata> {
    return this.#started.promise.then((stream) => stream.headers)
  }

  get trailers(): Promise<Metadata> {
    return this.#started.promise.then((stream) => stream.trailers)
  }

  cancel(reason = 'cancelled by the caller'): void {
    this.#abort(new GrpcError(STATUS.cancelled, reason))
  }

  #abort(error: GrpcError): void {
    if (this.#over) return
    if (this.#stream !== undefined) {
      const stream = this.#stream
      this.#started.resolve(stream)
      stream.abort(error)
    } else this.fail(error)
  }

  /**
   * Called when the stream has ended. A call that the server did not process is retried, which the caller does not
   * notice.
   */
  #ended(error: GrpcError | undefined, wasProcessed: boolean): void {
    if (this.#over) return
    const mayRetry = !wasProcessed && this.#options.message !== undefined && this.#tries < MAX_TRIES
    if (mayRetry) {
      this.#stream = undefined
      this.#dialer.submit(this)
      return
    }
    if (this.#stream !== undefined) this.#started.resolve(this.#stream)
    else if (error !== undefined) this.#started.reject(error)
    this.#end()
    this.#settle(error)
  }

  #end(): void {
    this.#over = true
    this.#early = []
    this.#dialer.withdraw(this)
    this.#dialer.wheel.remove(this)
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
  }

  #head(): HeaderPair[] {
    const { options, authority } = this.#dialer
    const head: HeaderPair[] = [
      [':method', 'POST'],
      [':scheme', options.tls === undefined ? 'http' : 'https'],
      [':path', this.#path],
      [':authority', authority],
      ['te', 'trailers'],
      ['content-type', 'application/grpc'],
      ['user-agent', options.userAgent ?? 'windlass'],
    ]
    if (this.#options.timeoutMs !== undefined) {
      head.push(['grpc-timeout', formatTimeout(this.dueAt - options.timing.now())])
    }
    head.push(...this.#metadata)
    return head
  }
}
