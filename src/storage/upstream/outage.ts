import type { Clock } from '../../base/clock.ts'
import { type Fault, FaultError } from '../../base/fault.ts'

/** Events of a store with an upstream. */
export interface UpstreamEvents {
  /** A call to the upstream failed. The caller got an answer without the upstream, or a fault. */
  failed(doing: string, error: unknown): void
  /** The upstream is not called for `ms` after `error`. */
  resting(ms: number, error: unknown): void
  /** The upstream answers again. */
  back(): void
  /** A blob from the upstream could not be stored locally. The reader still received it. */
  notKept(error: unknown): void
}

export const silentUpstream: UpstreamEvents = { failed() {}, resting() {}, back() {}, notKept() {} }

/**
 * The answer to misses while the upstream is unavailable: absent, so that builds continue; or a fault, so that builds
 * stop.
 */
export type WhenDown = 'absent' | 'unavailable'

export interface GuardedUpstream {
  /** Returns the upstream's answer. While the upstream is unavailable, returns `otherwise` or throws, as configured. */
  ask<T>(doing: string, question: () => Promise<T>, otherwise: T): Promise<T>
  /** Runs a write to the upstream. Reports failures as events and never rejects. */
  attempt(doing: string, work: () => Promise<void>): Promise<void>
  /** Reports a download that failed after its first bytes. */
  failed(doing: string, error: unknown): void
}

export interface GuardOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly events: UpstreamEvents
  readonly whenDown: WhenDown
}

const FIRST_REST_MS = 1000
const LONGEST_REST_MS = 30_000

/**
 * Avoids waiting for an unavailable upstream: after a failure it is not called for 1 second, then 2, up to 30, and
 * misses are answered at once. All components of one upstream share this state.
 */
export function guardedUpstream({ clock, events, whenDown }: GuardOptions): GuardedUpstream {
  let restsUntil = 0
  let restMs = 0

  const isResting = (): boolean => clock.monotonic() < restsUntil
  const failed = (doing: string, error: unknown, away = AWAY): void => {
    if (isCancelled(error)) return
    events.failed(doing, error)
    if ((error instanceof FaultError && !away.has(error.fault.kind)) || isResting()) return
    restMs = Math.min(LONGEST_REST_MS, Math.max(FIRST_REST_MS, restMs * 2))
    restsUntil = clock.monotonic() + restMs
    events.resting(restMs, error)
  }
  const worked = (): void => {
    if (restMs === 0) return
    restMs = 0
    restsUntil = 0
    events.back()
  }

  return {
    async ask(doing, question, otherwise) {
      if (isResting()) {
        if (whenDown === 'absent') return otherwise
        throw new FaultError({ kind: 'unavailable', what: 'the upstream is away, and what it holds with it' })
      }
      try {
        const answer = await question()
        worked()
        return answer
      } catch (error) {
        if (isCancelled(error)) throw error
        failed(doing, error)
        if (whenDown === 'absent') return otherwise
        throw error
      }
    },
    async attempt(doing, work) {
      if (isResting()) return
      try {
        await work()
        worked()
      } catch (error) {
        failed(doing, error, AWAY_FOR_WRITES)
      }
    },
    failed: (doing, error) => failed(doing, error),
  }
}

const isCancelled = (error: unknown): boolean => error instanceof FaultError && error.fault.kind === 'cancelled'

/**
 * Kinds of fault that mean that the upstream is unavailable. Other kinds concern one request, and any client can cause
 * them.
 */
const AWAY: ReadonlySet<Fault['kind']> = new Set(['unavailable', 'exhausted', 'denied'])
/** For writes: an upstream that is full, or refuses our writes, can still serve reads. */
const AWAY_FOR_WRITES: ReadonlySet<Fault['kind']> = new Set(['unavailable'])
