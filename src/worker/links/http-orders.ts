import type { Clock } from '../../base/clock.ts'
import { heartbeatAnswerFromJson } from '../../wire/workers/json/heartbeat.ts'
import type { Backoff } from './backoff.ts'
import type { LinkListener } from './worker-link.ts'

export interface OrdersOptions {
  /** Waits for what is new since; undefined for nothing. */
  readonly ask: (seen: number) => Promise<unknown>
  readonly listener: Pick<LinkListener, 'stop' | 'order'>
  readonly pauses: Backoff
  readonly clock: Pick<Clock, 'monotonic'>
  /** Ends it. */
  readonly signal: AbortSignal
}

/** A server that answers sooner than this with nothing does not let us wait. */
const HASTY_MS = 200

/** Hears at once what the next heartbeat would say, for as long as the signal lets it. */
export async function pollOrders({ ask, listener, pauses, clock, signal }: OrdersOptions): Promise<void> {
  let seen = 0
  let isDraining = false
  while (!signal.aborted) {
    const askedAt = clock.monotonic()
    const answer = await ask(seen).catch(() => undefined) // the polls for work say that the server is out of reach
    if (answer === undefined) {
      if (clock.monotonic() - askedAt < HASTY_MS) await pauses.pause(signal)
      continue
    }
    pauses.reset()
    const told = heartbeatAnswerFromJson(answer)
    seen = told.seen ?? seen
    for (const attemptId of told.cancel) listener.stop(attemptId, 'cancelled')
    if (told.shouldShutdown) listener.order('shutdown')
    else if (told.drain !== isDraining) listener.order(told.drain ? 'drain' : 'resume')
    isDraining = told.drain
  }
}
