import type { Instant } from '../model/events.ts'

/**
 * How a worker does as a machine. What people's commands do on it does not count: a worker that runs failing tests all
 * day is a good worker.
 */
export interface Health {
  /** Part of the recent attempts that ended in a fault of the grid. */
  errorRate: number
  errorsAt: Instant
  samples: number
  /** From lease to start. */
  latencyMs: number
  /** As the worker reports it; 0 when it does not. */
  load: number
}

const LEARNING = 0.2
const HALF_LIFE_MS = 60_000
/** Before that one bad attempt in two would look like a bad machine. */
const FEWEST_SAMPLES = 3
const DEGRADED = { errorRate: 0.4, load: 0.98 }
/** Well below, so that a worker at the edge does not go back and forth. */
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

/** Errors are forgotten with time: a worker that gets little work could not make up for them otherwise. */
export const errorRateAt = ({ errorRate, errorsAt }: Health, now: Instant): number =>
  errorRate === 0 ? 0 : errorRate * 0.5 ** ((now - errorsAt) / HALF_LIFE_MS)

/** In words what is wrong; undefined when nothing is. One that is degraded already must do better than the limit. */
export function healthProblem(health: Health, now: Instant, degraded: boolean): string | undefined {
  const limits = degraded ? RECOVERED : DEGRADED
  const errorRate = errorRateAt(health, now)
  if (errorRate > limits.errorRate && health.samples >= FEWEST_SAMPLES)
    return `${Math.round(errorRate * 100)} % of its recent attempts ended in a fault of the grid`
  if (health.load > limits.load) return `its machine reports a load of ${Math.round(health.load * 100)} %`
  return undefined
}
