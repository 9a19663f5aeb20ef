import { WebSocket } from 'ws'

type Sent = Parameters<WebSocket['send']>

/** A WebSocket that does not pile up what its peer never reads: at some point the peer is cut instead. */
export class CarefulSocket extends WebSocket {
  mostUnreadBytes = Number.POSITIVE_INFINITY

  override send(data: Sent[0], options?: unknown, done?: unknown): void {
    this.cutIfUnread()
    super.send(data, options as Sent[1], done as Sent[2])
  }

  cutIfUnread(): void {
    if (this.bufferedAmount > this.mostUnreadBytes) this.terminate()
  }
}
