import type { Instant } from '../model/events.ts'

/** The health of a worker as a machine. The exit codes of commands do not count: a worker may run failing tests all day. */
export interface Health {
  /** The share of recent attempts that ended in a fault of the grid. */
  errorRate: number
  errorsAt: Instant
  samples: number
  /** Average time from lease to start. */
  latencyMs: number
  /** As reported by the worker; 0 when it reports none. */
  load: number
}

const LEARNING = 0.2
const HALF_LIFE_MS = 60_000
/** With fewer samples, one fault in two attempts would degrade the worker. */
const FEWEST_SAMPLES = 3
const DEGRADED = { errorRate: 0.4, load: 0.98 }
/** Well below `DEGRADED`, so that a worker near the limit does not alternate between the states. */
const RECOVERED = { errorRate: 0.2, load: 0.9 }

export function noteAttempt(health: Health, fault: boolean, now: Instant): void {
  if (!fault && health.errorRate === 0) return
  health.errorRate = errorRateAt(health, now)
  health.errorsAt = now
  health.errorRate += LEARNING * ((fault ? 1 : 0) - health.errorRate)
  if (fault) health.samples++
}

export function noteLatency(health: Health, ms: number): void {
  health.latencyMs += LEARNING * (ms - health.latencyMs)
}

/** The error rate decays with time: otherwise a worker that gets few tasks could not recover. */
export const errorRateAt = ({ errorRate, errorsAt }: Health, now: Instant): number =>
  errorRate === 0 ? 0 : errorRate * 0.5 ** ((now - errorsAt) / HALF_LIFE_MS)

/** Describes what is wrong; undefined for a healthy worker. For a degraded worker the stricter limits apply. */
export function healthProblem(health: Health, now: Instant, degraded: boolean): string | undefined {
  const limits = degraded ? RECOVERED : DEGRADED
  const errorRate = errorRateAt(health, now)
  if (errorRate > limits.errorRate && health.samples >= FEWEST_SAMPLES)
    return `${Math.round(errorRate * 100)} % of its recent attempts ended in a fault of the grid`
  if (health.load > limits.load) return `its machine reports a load of ${Math.round(health.load * 100)} %`
  return undefined
}
