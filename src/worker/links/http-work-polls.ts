import type { Clock } from '../../base/clock.ts'
import type { LeaseMessage } from '../../wire/workers/lease-stream.ts'
import type { Backoff } from './backoff.ts'

/**
 * Requests leases by long polls, so that every free slot is covered by one poll. A slot that becomes free while others
 * are being polled for gets its own poll.
 */
export interface WorkPolls {
  /** Polls for the free slots that no poll covers yet. */
  fill(): void
  /** Aborts all polls. */
  quiet(): void
}

export interface WorkPollsOptions {
  readonly slots: number
  /** The attempts in a slot. New leases are added here; the owner removes ended attempts. */
  readonly held: Set<string>
  /** A long poll for up to this many leases; throws when the server cannot be reached. */
  readonly ask: (most: number, signal: AbortSignal) => Promise<readonly LeaseMessage[]>
  readonly leases: (leases: readonly LeaseMessage[]) => void
  /** Called before a retry after a pause. */
  readonly failed: (error: unknown) => void
  readonly pauses: Backoff
  readonly clock: Pick<Clock, 'monotonic'>
  /** Stops the polls. */
  readonly signal: AbortSignal
}

/** A server that answers sooner than this without a lease does not support long polls. */
const HASTY_MS = 200

export function workPolls(options: WorkPollsOptions): WorkPolls {
  const { slots, held, ask, leases, failed, pauses, clock } = options
  const silence = new AbortController()
  const signal = AbortSignal.any([options.signal, silence.signal])
  let asked = 0
  let isPausing = false

  const fill = (): void => {
    const free = slots - held.size - asked
    if (free > 0 && !isPausing && !signal.aborted) void poll(free)
  }
  const pause = async (): Promise<void> => {
    if (isPausing) return
    isPausing = true
    await pauses.pause(signal)
    isPausing = false
  }
  const poll = async (most: number): Promise<void> => {
    asked += most
    const askedAt = clock.monotonic()
    try {
      const given = await ask(most, signal)
      for (const { attemptId } of given) held.add(attemptId)
      asked -= most
      if (given.length > 0 || clock.monotonic() - askedAt > HASTY_MS) pauses.reset()
      else await pause()
      if (given.length > 0) leases(given)
    } catch (error) {
      asked -= most
      if (signal.aborted) return
      failed(error)
      await pause()
    }
    fill()
  }
  fill()
  return {
    fill,
    quiet: () => silence.abort(),
  }
}
