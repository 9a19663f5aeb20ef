import { connect as connectNet, isIP, type Socket } from 'node:net'
import { checkServerIdentity, connect as connectTls } from 'node:tls'
import { addressName, type ListenAddress } from '../address.ts'
import { CLOSED } from '../http2/connection.ts'
import { DEFAULT_LIMITS, type Http2Limits } from '../http2/limits.ts'
import { STRANGER_REASON, type Stranger, strangerBehind } from '../http2/stranger.ts'
import type { Timing } from '../http2/timing.ts'
import { GrpcError, type MetadataInit, STATUS } from '../status.ts'
import { TimerWheel } from '../timer-wheel.ts'
import type { CallOptions } from './call-options.ts'
import { CallQueue } from './call-queue.ts'
import type { ClientCall, UnaryAnswer } from './client-call.ts'
import { ClientConnection } from './client-connection.ts'
import { dialProblem } from './dial-problem.ts'
import { PendingCall } from './pending-call.ts'

export interface ClientTls {
  /** Certificates to trust instead of those of the system. */
  readonly ca?: string | Buffer
  /** The client certificate, for servers that require one. */
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  /** The server name in the certificate, if it is not the host of the address. */
  readonly serverName?: string
}

/** The reason why a server did not answer, in the words of `dialProblem`. */
export interface Refusal {
  readonly refusal: string
  readonly stranger: Stranger | undefined
}

/** Finds the gRPC address of a server whose HTTP address was given. */
export interface Elsewhere {
  /** Returns the address, the server's refusal, or undefined when the server does not know. Never rejects. */
  ask(): Promise<ListenAddress | Refusal | undefined>
  /**
   * Whether the server speaks TLS; called when it closed a connection without TLS and without an answer. Never rejects.
   */
  speaksTls(): Promise<boolean>
  /** Whether to connect to the found address; otherwise only the error names it. */
  readonly follow: boolean
}

export interface ChannelOptions {
  readonly address: ListenAddress
  readonly timing: Timing
  readonly tls?: ClientTls
  readonly elsewhere?: Elsewhere
  readonly authority?: string
  /** Sent with every call. */
  readonly metadata?: MetadataInit
  readonly userAgent?: string
  readonly limits?: Partial<Http2Limits>
  readonly connectTimeoutMs?: number
  /**
   * The pause after a failed connection attempt. It doubles up to `maxBackoffMs`, and up to a fifth is subtracted at
   * random.
   */
  readonly minBackoffMs?: number
  readonly maxBackoffMs?: number
  readonly random?: () => number
}

export interface Channel {
  unary(path: string, message: Uint8Array, options?: CallOptions): Promise<UnaryAnswer>
  /** Sends one message and receives many. */
  serverStreaming(path: string, message: Uint8Array, options?: CallOptions): ClientCall
  /** Sends many messages and receives one or many. */
  open(path: string, options?: CallOptions): ClientCall
  close(): void
}

/** One connection to one server. It is opened for the first call, and again for the next call after it was lost. */
export function createChannel(options: ChannelOptions): Channel {
  const dialer = new Dialer(options)
  return {
    unary(path, message, callOptions = {}) {
      const answer = Promise.withResolvers<UnaryAnswer>()
      new PendingCall(dialer, path, { ...callOptions, message, answer })
      return answer.promise
    },
    serverStreaming: (path, message, callOptions = {}) => new PendingCall(dialer, path, { ...callOptions, message }),
    open: (path, callOptions = {}) => new PendingCall(dialer, path, callOptions),
    close: () => dialer.close(),
  }
}

/** The connection of a channel, and the calls that wait for it. */
class Dialer {
  readonly options: ChannelOptions
  readonly wheel: TimerWheel
  readonly authority: string
  readonly #limits: Http2Limits
  readonly #waiting = new CallQueue<PendingCall>()
  #connection: ClientConnection | undefined
  #isDialing = false
  #failures = 0
  #address: ListenAddress
  #isClosed = false
  /** Cancels the connection attempt, or the pause before it. */
  #stopDialing: () => void = () => {}

  constructor(options: ChannelOptions) {
    this.options = options
    this.wheel = new TimerWheel(options.timing)
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    const { address } = options
    this.#address = address
    this.authority = options.authority ?? ('path' in address ? 'localhost' : addressName(address))
  }

  /** Starts the call on the connection when a stream is free, or queues it. */
  submit(call: PendingCall): void {
    if (this.#isClosed) return call.fail(new GrpcError(STATUS.unavailable, 'the channel is closed'))
    if (this.#connection?.hasRoom === true && this.#waiting.size === 0) return call.start(this.#connection)
    this.#waiting.add(call)
    if (this.#connection?.isUsable !== true) this.#dial()
  }

  withdraw(call: PendingCall): void {
    if (this.#waiting.size > 0) this.#waiting.delete(call)
  }

  close(): void {
    this.#isClosed = true
    this.#connection?.close()
    this.#stopDialing()
    this.#failWaiting(new GrpcError(STATUS.unavailable, 'the channel was closed'), true)
  }

  #dial(): void {
    if (this.#isDialing || this.#isClosed) return
    this.#isDialing = true
    const { minBackoffMs = 100, maxBackoffMs = 10_000, random = () => 1, timing } = this.options
    const pause = this.#failures === 0 ? 0 : Math.min(maxBackoffMs, minBackoffMs * 2 ** (this.#failures - 1))
    if (pause === 0) this.#connect()
    else this.#stopDialing = timing.after(pause * (0.8 + 0.2 * random()), () => this.#connect())
  }

  #connect(): void {
    if (this.#isClosed) return
    const { tls, timing, connectTimeoutMs = 10_000 } = this.options
    const socket = tls === undefined ? connectNet(this.#address) : dialTls(this.#address, tls)
    let settled = false
    const settle = (error: Error | undefined): void => {
      if (settled) return
      settled = true
      cancelTimeout()
      this.#isDialing = false
      if (error === undefined) this.#connected(socket)
      else this.#dialFailed(socket, error)
    }
    const cancelTimeout = timing.after(connectTimeoutMs, () => settle(new Error('connecting took too long')))
    this.#stopDialing = () => settle(new Error('the channel was closed'))
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => settle(undefined))
    socket.on('error', settle)
  }

  #connected(socket: Socket): void {
    if (this.#isClosed) return void socket.destroy()
    socket.setNoDelay(true)
    const connection = new ClientConnection({
      socket,
      limits: this.#limits,
      timing: this.options.timing,
      wheel: this.wheel,
      onChange: () => this.#serve(),
      onClosed: ({ reason, stranger }) => {
        if (this.#connection === connection) this.#connection = undefined
        // A peer that never sent SETTINGS is not a gRPC server: count a failed attempt.
        if (!connection.isGreeted) void this.#attemptFailed(dialProblem('', reason), stranger)
        else if (this.#waiting.size > 0) this.#dial()
      },
    })
    this.#connection = connection
  }

  #dialFailed(socket: Socket, error: Error): void {
    socket.destroy()
    const code = 'code' in error ? String(error.code) : ''
    const stranger = strangerBehind(code)
    void this.#attemptFailed(
      stranger === undefined ? dialProblem(code, error.message) : STRANGER_REASON[stranger],
      stranger,
    )
  }

  async #attemptFailed(reason: string, seen: Stranger | undefined): Promise<void> {
    const { address, elsewhere, tls } = this.options
    const wasElsewhere = this.#address !== address
    const where = addressName(this.#address)
    // The next attempt uses the given address again, because the server may have moved.
    this.#address = address
    let what = reason
    let stranger = seen
    if (elsewhere !== undefined && !wasElsewhere && !this.#isClosed) {
      this.#isDialing = true
      const found = stranger === 'http' ? await elsewhere.ask() : undefined
      // Many TLS servers close a plain connection without an alert.
      if (reason === CLOSED && tls === undefined && (await elsewhere.speaksTls())) stranger = 'tls'
      this.#isDialing = false
      const isRefused = found !== undefined && 'refusal' in found
      if (found !== undefined && !isRefused && elsewhere.follow) return this.#redirect(found)
      if (stranger !== undefined) what = STRANGER_REASON[stranger]
      if (isRefused) ({ refusal: what, stranger } = found)
      else if (found !== undefined) what += `: this is the HTTP port; gRPC is on ${addressName(found)}`
    }
    if (this.#isClosed) return
    this.#failures++
    const words = `cannot connect to ${where}: ${what}`
    this.#failWaiting(new GrpcError(STATUS.unavailable, words, { unanswered: true, stranger }), false)
    if (this.#waiting.size > 0) this.#dial()
  }

  #redirect(address: ListenAddress): void {
    this.#address = address
    if (this.#isClosed || this.#connection !== undefined) return
    this.#isDialing = true
    this.#connect()
  }

  #failWaiting(error: GrpcError, evenPatient: boolean): void {
    for (const call of this.#waiting.removeIf((call) => evenPatient || !call.isPatient)) call.fail(error)
  }

  #serve(): void {
    if (this.#connection?.isGreeted === true) this.#failures = 0
    if (this.#connection?.isUsable === false) {
      // The server sent GOAWAY: running calls may end, new calls need another connection.
      this.#connection = undefined
      if (this.#waiting.size > 0) this.#dial()
    }
    while (this.#waiting.size > 0 && this.#connection?.hasRoom === true) this.#waiting.shift()?.start(this.#connection)
  }
}

function dialTls(address: ListenAddress, tls: ClientTls): Socket {
  const { serverName, ...credentials } = tls
  const name = serverName ?? ('host' in address ? address.host : 'localhost')
  return connectTls({
    ...address,
    ...credentials,
    // RFC 6066 does not allow an IP address as a server name.
    ...(isIP(name) === 0 && { servername: name }),
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
    // A certificate in `ca` is trusted itself, whether it is the server's own or an intermediate one.
    allowPartialTrustChain: credentials.ca !== undefined,
    ALPNProtocols: ['h2'],
  })
}
