import type { Duplex } from 'node:stream'
import type { HeaderList } from '../hpack/header-field.ts'
import { Http2Connection } from '../http2/connection.ts'
import type { ConnectionEnd, ConnectionHost } from '../http2/connection-host.ts'
import type { RequestHead } from '../http2/request-head.ts'
import type { Http2Stream } from '../http2/stream.ts'
import { ERROR } from '../http2/wire-format.ts'
import type { Peer } from '../service.ts'
import { RefusedRequest } from './refused-request.ts'
import { literals, ResponseBlocks } from './response-blocks.ts'
import { ResponseBudget } from './response-budget.ts'
import type { Route } from './routes.ts'
import { ActiveCall } from './server-call.ts'
import type { CallConnection, ServerCore } from './server-core.ts'

/** application/grpc, alone or with a format (+proto) or parameters; not grpc-web, which is another protocol. */
const isGrpc = (contentType: string): boolean =>
  contentType === 'application/grpc' || /^application\/grpc[+;]/.test(contentType)

/** One connection to a client: its requests become calls. */
export class ServerConnection implements ConnectionHost, CallConnection {
  readonly core: ServerCore
  readonly peer: Peer
  readonly http2: Http2Connection
  readonly blocks = new ResponseBlocks()
  readonly room: ResponseBudget
  readonly #onEnd: () => void

  constructor(core: ServerCore, socket: Duplex, peer: Peer, onEnd: () => void) {
    this.core = core
    this.peer = peer
    this.#onEnd = onEnd
    core.observer.connectionOpened()
    this.http2 = new Http2Connection({ socket, role: 'server', limits: core.limits, timing: core.timing, host: this })
    this.room = new ResponseBudget(this.http2)
  }

  get http1Answer(): string | undefined {
    return this.core.http1Answer?.()
  }

  get budget(): ServerCore['budget'] {
    return this.core.budget
  }

  onStream(stream: Http2Stream, list: HeaderList, endStream: boolean): void {
    const head = list.understood as RequestHead
    if (list.overflowed) return this.#refuse(stream, '431')
    const status = head.method !== 'POST' ? '405' : isGrpc(head.contentType) ? undefined : '415'
    if (status !== undefined)
      return new RefusedRequest(stream, { status, method: head.method }, this.blocks).begin(endStream)
    head.route ??= this.core.routes.find(head.path)
    new ActiveCall(this, stream, head, head.route as Route).begin(endStream)
  }

  /** Refuses a request at once and without a body. */
  #refuse(stream: Http2Stream, status: string): void {
    const block = this.blocks.other(literals([[':status', status]]))
    this.http2.writeHeaderBlock(stream.id, block, true)
    stream.localClosed = true
    this.http2.localSideEnded(stream)
  }

  onPeerSettings(): void {
    this.blocks.peerTableBytes(this.http2.peer.headerTableSize)
  }

  onGoaway(): void {
    // The client opens no more streams; running ones continue, then it closes the connection.
  }

  onStreamGone(stream: Http2Stream): void {
    ;(stream.receiver as ActiveCall | RefusedRequest | undefined)?.onStreamGone()
  }

  onClosed(end: ConnectionEnd): void {
    this.room.clear()
    this.core.observer.connectionClosed(end)
    this.#onEnd()
  }

  isWithinBudget(): boolean {
    return (
      this.http2.bufferedBytes <= this.core.limits.maxConnectionBufferedBytes &&
      this.core.budget.used <= this.core.budget.most
    )
  }

  get isCongested(): boolean {
    return this.http2.turns.isCongested
  }

  get hasParked(): boolean {
    return this.room.hasWaiting
  }

  onRoom(): void {
    this.room.letIn()
  }

  drain(): void {
    this.http2.drain()
  }

  close(reason: string): void {
    this.http2.close(ERROR.none, reason)
  }
}
