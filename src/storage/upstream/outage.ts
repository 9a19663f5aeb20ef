import type { Clock } from '../../base/clock.ts'
import { type Fault, FaultError } from '../../base/fault.ts'

/** What a store that leans on an upstream has to tell. */
export interface UpstreamEvents {
  /** The upstream could not do something; callers were served without it, or told so. */
  failed(doing: string, error: unknown): void
  /** It is not asked for a while, and why. */
  resting(ms: number, error: unknown): void
  /** It answers again. */
  back(): void
  /** A blob that came from the upstream could not be kept here. Whoever asked for it has it all the same. */
  notKept(error: unknown): void
}

export const silentUpstream: UpstreamEvents = { failed() {}, resting() {}, back() {}, notKept() {} }

/** What misses are while the upstream cannot be asked: absent, so that builds go on; or a fault, so that they stop. */
export type WhenDown = 'absent' | 'unavailable'

export interface GuardedUpstream {
  /** The upstream's answer; while there is none, `otherwise` or a fault, as configured. */
  ask<T>(doing: string, question: () => Promise<T>, otherwise: T): Promise<T>
  /** Writes what nobody waits to hear of: never rejects. */
  attempt(doing: string, work: () => Promise<void>): Promise<void>
  /** For what broke off after it had begun well. */
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
 * Spares everybody the wait for an upstream that is away: after a failure it is left alone for a second, then two, up
 * to half a minute, and every miss in between is answered at once. All parts that lean on one upstream share this.
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

/** As opposed to being there, and not liking this one question or holding bad bytes for it: anybody can ask those. */
const AWAY: ReadonlySet<Fault['kind']> = new Set(['unavailable', 'exhausted', 'denied'])
/** One that is full, or takes nothing from us, can still be read from. */
const AWAY_FOR_WRITES: ReadonlySet<Fault['kind']> = new Set(['unavailable'])
