import { FaultError } from '../../base/fault.ts'
import { leasesFromJson } from '../../wire/workers/json/lease.ts'
import { backoff } from './backoff.ts'
import { pollOrders } from './http-orders.ts'
import {
  asking,
  type HttpLinkOptions,
  type Registered,
  refusal,
  registerByHttp,
  WAIT_SECONDS,
} from './http-questions.ts'
import { type WorkPolls, workPolls } from './http-work-polls.ts'
import type { LinkListener } from './worker-link.ts'

/** The registration of this worker, and the long polls that depend on it. */
export interface HttpRegistration {
  open(listener: LinkListener): void
  /** Sent with every request under this registration. */
  headers(): Readonly<Record<string, string>>
  /** Registers again: the server has lost this worker, or the registration has changed. */
  renew(): void
  /** Another worker with the same name has registered: the server answered so to a request with these headers. */
  displaced(headers: Readonly<Record<string, string>>): void
  /** The attempt has ended. Its slot is free, although the server has no report yet. */
  freed(attemptId: string): void
  /** Sends no further polls. */
  quiet(): void
  /** The worker is about to deregister. */
  leave(): void
}

export interface HttpRegistrationOptions extends HttpLinkOptions {
  /** Closes the registration permanently. */
  readonly signal: AbortSignal
}

/** One registration, from its acceptance until another is needed. */
interface Life {
  readonly over: AbortController
  readonly headers: Readonly<Record<string, string>>
  readonly polls: WorkPolls
  readonly done: Promise<void>
}

export function httpRegistration(options: HttpRegistrationOptions): HttpRegistration {
  const { clock, random, signal } = options
  const pauses = backoff(clock, random)
  /** The attempts in a slot, independent of registrations. */
  const held = new Set<string>()
  let life: Life | undefined
  let isLeaving = false
  let isQuiet = false
  let giveUp = (_error: Error): void => {}

  const once = async (listener: LinkListener): Promise<void> => {
    const registered = await registerByHttp(options, listener)
    pauses.reset()
    listener.registered()
    life = beginLife(options, { listener, registered, held, giveUp })
    if (isQuiet) life.polls.quiet()
    await life.done
  }

  const keep = async (listener: LinkListener): Promise<void> => {
    let refused: Error | undefined
    giveUp = (error) => {
      refused = error
      life?.over.abort()
    }
    while (!signal.aborted && !isLeaving) {
      try {
        await once(listener)
      } catch (error) {
        if (signal.aborted || isLeaving) return
        if (error instanceof FaultError && error.fault.kind === 'unavailable') listener.lost(error)
        else refused = error as Error
      } finally {
        life = undefined
      }
      if (refused !== undefined) return listener.refused(refused)
      await pauses.pause(signal)
    }
  }

  return {
    open: (listener) => void keep(listener),
    headers: () => life?.headers ?? {},
    renew: () => life?.over.abort(),
    displaced(headers) {
      if (life !== undefined && headers === life.headers) giveUp(refusal('another worker has registered by this name'))
    },
    freed(attemptId) {
      if (held.delete(attemptId)) life?.polls.fill()
    },
    quiet() {
      isQuiet = true
      life?.polls.quiet()
    },
    leave() {
      isLeaving = true
      life?.over.abort()
    },
  }
}

interface LifeParts {
  readonly listener: LinkListener
  readonly registered: Registered
  readonly held: Set<string>
  readonly giveUp: (error: Error) => void
}

/** Polls for leases and for orders; resolves when the registration has ended. */
function beginLife(
  options: HttpRegistrationOptions,
  { listener, registered: { slots, headers }, held, giveUp }: LifeParts,
): Life {
  const { clock, random } = options
  const over = new AbortController()
  const signal = AbortSignal.any([options.signal, over.signal])
  const ask = asking(options, { headers, unknown: () => over.abort(), displaced: (what) => giveUp(refusal(what)) })
  const polls = workPolls({
    slots,
    held,
    ask: async (most, within) => leasesFromJson(await ask(`work?wait=${WAIT_SECONDS}s&max=${most}`, within)),
    leases: (leases) => listener.leases(leases),
    failed: (error) => listener.lost(error),
    pauses: backoff(clock, random),
    clock,
    signal,
  })
  const done = pollOrders({
    ask: (seen) => ask(`orders?wait=${WAIT_SECONDS}s&seen=${seen}`, signal),
    listener,
    pauses: backoff(clock, random),
    clock,
    signal,
  })
  return { over, headers, polls, done }
}
