import { connect as connectNet, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ClientCall, UnaryAnswer } from './client-call.ts'
import { ClientConnection } from './client-connection.ts'
import { DEFAULT_LIMITS, type Limits } from './http2/limits.ts'
import { PendingCall } from './pending-call.ts'
import type { ListenAddress } from './server.ts'
import { GrpcError, type MetadataInit, STATUS } from './status.ts'
import { TimerWheel } from './timer-wheel.ts'
import type { Timing } from './timing.ts'
import { WaitingLine } from './waiting-line.ts'

export interface ClientTls {
  /** Certificates to trust instead of the system's. */
  readonly ca?: string | Buffer
  /** Our own certificate, for servers that ask for one. */
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  /** The name the server must prove, where it is not the host that is dialled. */
  readonly serverName?: string
}

export interface ChannelOptions {
  readonly address: ListenAddress
  readonly timing: Timing
  readonly tls?: ClientTls
  readonly authority?: string
  /** Sent with every call. */
  readonly metadata?: MetadataInit
  readonly userAgent?: string
  readonly limits?: Partial<Limits>
  readonly connectTimeoutMs?: number
  /** Pause after a failed connection attempt; doubles up to `maxBackoffMs`, with up to a fifth taken off at random. */
  readonly minBackoffMs?: number
  readonly maxBackoffMs?: number
  readonly random?: () => number
}

export interface CallOptions {
  readonly metadata?: MetadataInit
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Wait for a connection, instead of failing with the first attempt that fails. */
  readonly waitForReady?: boolean
}

export interface Channel {
  unary(path: string, message: Uint8Array, options?: CallOptions): Promise<UnaryAnswer>
  /** One message out, many back. */
  serverStreaming(path: string, message: Uint8Array, options?: CallOptions): ClientCall
  /** Many messages out; one or many back. */
  open(path: string, options?: CallOptions): ClientCall
  close(): void
}

/** One connection to one server, made when it is first needed and again whenever it is lost. */
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

/** Keeps the connection, and the calls that wait for one. */
export class Dialer {
  readonly options: ChannelOptions
  readonly wheel: TimerWheel
  readonly authority: string
  readonly #limits: Limits
  readonly #waiting = new WaitingLine()
  #connection: ClientConnection | undefined
  #isDialing = false
  #failures = 0
  #isClosed = false
  /** Gives up the attempt to connect, or the pause before it. */
  #stopDialing: () => void = () => {}

  constructor(options: ChannelOptions) {
    this.options = options
    this.wheel = new TimerWheel(options.timing)
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    const { address } = options
    this.authority = options.authority ?? ('path' in address ? 'localhost' : hostAndPort(address))
  }

  /** Starts the call on the connection when there is room, or keeps it until there is. */
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
    const { address, tls, timing, connectTimeoutMs = 10_000 } = this.options
    const socket = tls === undefined ? connectNet(address) : dialTls(address, tls)
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
      onClosed: ({ reason }) => {
        if (this.#connection === connection) this.#connection = undefined
        // One that never greeted us is no server of ours: that counts as a failed attempt.
        if (!connection.isGreeted) this.#attemptFailed(reason)
        else if (this.#waiting.size > 0) this.#dial()
      },
    })
    this.#connection = connection
  }

  #dialFailed(socket: Socket, error: Error): void {
    socket.destroy()
    this.#attemptFailed(error.message)
  }

  #attemptFailed(reason: string): void {
    if (this.#isClosed) return
    this.#failures++
    const { address } = this.options
    const where = 'path' in address ? address.path : hostAndPort(address)
    this.#failWaiting(
      new GrpcError(STATUS.unavailable, `cannot connect to ${where}: ${reason}`, { unanswered: true }),
      false,
    )
    if (this.#waiting.size > 0) this.#dial()
  }

  #failWaiting(error: GrpcError, evenPatient: boolean): void {
    for (const call of this.#waiting.removeIf((call) => evenPatient || !call.isPatient)) call.fail(error)
  }

  #serve(): void {
    if (this.#connection?.isGreeted === true) this.#failures = 0
    if (this.#connection?.isUsable === false) {
      // It is going away: what runs on it may end, new calls need another one.
      this.#connection = undefined
      if (this.#waiting.size > 0) this.#dial()
    }
    while (this.#waiting.size > 0 && this.#connection?.hasRoom === true) this.#waiting.shift()?.start(this.#connection)
  }
}

const hostAndPort = ({ host, port }: { host: string; port: number }): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

function dialTls(address: ListenAddress, tls: ClientTls): Socket {
  const { serverName, ...credentials } = tls
  const servername = serverName ?? ('host' in address ? address.host : 'localhost')
  // An IP address is no server name (RFC 6066); the certificate is then checked against the address.
  const name = /^[\d.]+$|:/.test(servername) ? {} : { servername }
  return connectTls({ ...address, ...credentials, ...name, ALPNProtocols: ['h2'] })
}
