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

/** That the server knows us, and all that waits for its answers while it does. */
export interface HttpRegistration {
  open(listener: LinkListener): void
  /** To be sent along by whoever speaks for this registration. */
  headers(): Readonly<Record<string, string>>
  /** Registers anew: the server has lost us, or there is more to say. */
  renew(): void
  /** Another worker of our name has come, and was told so by these headers. */
  displaced(headers: Readonly<Record<string, string>>): void
  /** It has ended here: its slot is free, though the server has not heard of it yet. */
  freed(attemptId: string): void
  /** Asks for nothing more. */
  quiet(): void
  /** We are about to say goodbye. */
  leave(): void
}

export interface HttpRegistrationOptions extends HttpLinkOptions {
  /** Ends it for good. */
  readonly signal: AbortSignal
}

/** One registration, from the server's yes to the moment when another is needed. */
interface Life {
  readonly over: AbortController
  readonly headers: Readonly<Record<string, string>>
  readonly polls: WorkPolls
  readonly done: Promise<void>
}

export function httpRegistration(options: HttpRegistrationOptions): HttpRegistration {
  const { clock, random, signal } = options
  const pauses = backoff(clock, random)
  /** What takes a slot here, whatever becomes of registrations. */
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

/** Asks for work and for orders; done when the server does not know us any more, or we do not want it to. */
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
