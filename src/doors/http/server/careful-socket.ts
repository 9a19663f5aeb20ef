import { WebSocket } from 'ws'

type Sent = Parameters<WebSocket['send']>

/** A WebSocket with a limit of unread bytes: a peer that exceeds it is disconnected. */
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
