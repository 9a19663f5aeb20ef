import type { Clock } from '../../base/clock.ts'
import type { LeaseMessage } from '../../wire/workers/lease.ts'
import type { Backoff } from './backoff.ts'

/**
 * Asks for work with as many long polls as it takes that every free slot is asked for by one of them: a slot that falls
 * free while others are waited for gets a question of its own.
 */
export interface WorkPolls {
  /** Asks for what nobody asks for yet. */
  fill(): void
  /** Nothing more is asked for; what waits for an answer hangs up. */
  quiet(): void
}

export interface WorkPollsOptions {
  readonly slots: number
  /** What takes a slot; what comes is added to it, and what has ended is for others to take out. */
  readonly held: Set<string>
  /** Waits for up to so many tasks; throws when the server cannot be asked. */
  readonly ask: (most: number, signal: AbortSignal) => Promise<readonly LeaseMessage[]>
  readonly leases: (leases: readonly LeaseMessage[]) => void
  /** Tried again after a pause. */
  readonly failed: (error: unknown) => void
  readonly pauses: Backoff
  readonly clock: Pick<Clock, 'monotonic'>
  /** Ends it. */
  readonly signal: AbortSignal
}

/** A server that answers sooner than this with nothing does not let us wait. */
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
