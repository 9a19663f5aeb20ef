import type { Clock } from '../../base/clock.ts'
import { heartbeatAnswerFromJson } from '../../wire/workers/json/heartbeat.ts'
import type { Backoff } from './backoff.ts'
import type { LinkListener } from './worker-link.ts'

export interface OrdersOptions {
  /** Long-polls for orders after number `seen`; undefined when there are none. */
  readonly ask: (seen: number) => Promise<unknown>
  readonly listener: Pick<LinkListener, 'stop' | 'order'>
  readonly pauses: Backoff
  readonly clock: Pick<Clock, 'monotonic'>
  /** Stops the polls. */
  readonly signal: AbortSignal
}

/** A server that answers sooner than this without an order does not support long polls. */
const HASTY_MS = 200

/** Receives orders without waiting for the next heartbeat, until the signal is aborted. */
export async function pollOrders({ ask, listener, pauses, clock, signal }: OrdersOptions): Promise<void> {
  let seen = 0
  let isDraining = false
  while (!signal.aborted) {
    const askedAt = clock.monotonic()
    const answer = await ask(seen).catch(() => undefined) // the polls for leases report a server that cannot be reached
    if (answer === undefined) {
      if (clock.monotonic() - askedAt < HASTY_MS) await pauses.pause(signal)
      continue
    }
    pauses.reset()
    const answered = heartbeatAnswerFromJson(answer)
    seen = answered.seen ?? seen
    for (const attemptId of answered.cancel) listener.stop(attemptId, 'cancelled')
    if (answered.shouldShutdown) listener.order('shutdown')
    else if (answered.drain !== isDraining) listener.order(answered.drain ? 'drain' : 'resume')
    isDraining = answered.drain
  }
}
