import type { Clock } from '../../base/clock.ts'
import type { Channel } from '../../grpc/client/channel.ts'
import type { ClientCall } from '../../grpc/client/client-call.ts'
import { isTransient, understood, upstreamFault } from './upstream-fault.ts'

/** The connection to another REAPI server, with its timeouts and retries. */
export interface UpstreamOptions {
  readonly channel: Channel
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  /** The timeout of a unary call, retries included. In a stream, the timeout of each message. */
  readonly timeoutMs: number
  /** A unique name for each upload. */
  readonly newId: () => string
  /** The number of retries after UNAVAILABLE. */
  readonly retries?: number
  /** The pause before the first retry. It doubles for each retry, and up to half of it is subtracted at random. */
  readonly backoffMs?: number
  readonly random?: () => number
}

export interface Upstream {
  readonly channel: Channel
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  readonly timeoutMs: number
  readonly newId: () => string
  readonly retries: number
  /** Makes a unary call, with retries after UNAVAILABLE. Failures are FaultErrors. */
  ask<T>(path: string, message: Uint8Array, read: (answer: Uint8Array) => T): Promise<T>
  /** Retries `attempt` while it fails with UNAVAILABLE. `leftMs` is the rest of the timeout. */
  retrying<T>(attempt: (leftMs: number) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Waits for `sign`, and cancels the call after `timeoutMs`. */
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

/** Waits `ms`. Ends early, without an error, when `signal` aborts. */
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
