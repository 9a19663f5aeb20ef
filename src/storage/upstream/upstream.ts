import type { Clock } from '../../base/clock.ts'
import type { Channel } from '../../grpc/client/channel.ts'
import type { ClientCall } from '../../grpc/client/client-call.ts'
import { isTransient, understood, upstreamFault } from './upstream-fault.ts'

/** Another server of the Remote Execution API, and how patient we are with it. */
export interface UpstreamOptions {
  readonly channel: Channel
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  /** For a whole call with one answer, tries that failed included; in a stream, for each next piece. */
  readonly timeoutMs: number
  /** A unique name for each upload. */
  readonly newId: () => string
  /** Further tries after UNAVAILABLE. */
  readonly retries?: number
  /** The pause before the first retry; it doubles, with up to a half subtracted at random. */
  readonly backoffMs?: number
  readonly random?: () => number
}

export interface Upstream {
  readonly channel: Channel
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  readonly timeoutMs: number
  readonly newId: () => string
  readonly retries: number
  /** One question, one answer; tried again as long as that makes sense. Failures are FaultErrors. */
  ask<T>(path: string, message: Uint8Array, read: (answer: Uint8Array) => T): Promise<T>
  /** Does it again while it fails with UNAVAILABLE; `leftMs` is what remains of the timeout. */
  retrying<T>(attempt: (leftMs: number) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Waits for the next message of a call, and cancels the call after the idle timeout. */
  within<T>(call: ClientCall, sign: Promise<T>): Promise<T>
}

const RETRIES = 3
const BACKOFF_MS = 100

export function openUpstream(options: UpstreamOptions): Upstream {
  const { channel, clock, timeoutMs, newId, retries = RETRIES, backoffMs = BACKOFF_MS, random = () => 0 } = options

  const retrying: Upstream['retrying'] = async (attempt, signal) => {
    const end = clock.monotonic() + timeoutMs
    for (let tries = 0; ; tries++) {
      try {
        return await attempt(Math.max(1, end - clock.monotonic()))
      } catch (error) {
        const pauseMs = backoffMs * 2 ** tries * (1 - random() / 2)
        const isOver = tries >= retries || clock.monotonic() + pauseMs >= end
        if (isOver || signal?.aborted === true || !isTransient(error)) throw upstreamFault(error, signal)
        await pausing(clock, pauseMs, signal)
      }
    }
  }

  return {
    channel,
    clock,
    timeoutMs,
    newId,
    retries,
    retrying,
    ask: (path, message, read) =>
      retrying(async (leftMs) => {
        const answer = await channel.unary(path, message, { timeoutMs: leftMs })
        return understood(() => read(answer.message))
      }),
    async within(call, sign) {
      const forget = clock.after(timeoutMs, () => call.cancel(`nothing came for ${timeoutMs} ms`))
      try {
        return await sign
      } finally {
        forget()
      }
    },
  }
}

/** Ends early, without an error, when no caller waits any more. */
const pausing = (clock: Pick<Clock, 'after'>, ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      forget()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const forget = clock.after(ms, end)
    signal?.addEventListener('abort', end, { once: true })
  })
