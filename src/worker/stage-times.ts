import type { Clock } from '../base/clock.ts'
import type { ExecutedActionMetadata, ExecutionTime } from '../model/action-result.ts'
import type { Timestamp } from '../model/timestamp.ts'

/** Notes when each part of an attempt began and ended. Clients subtract these, so none is before the one noted before it. */
export class StageTimes {
  readonly #clock: Clock
  readonly #times: Partial<Record<ExecutionTime, Timestamp>> = {}
  #latest: number

  constructor(clock: Clock, queuedAt: number | undefined) {
    this.#clock = clock
    this.#latest = queuedAt ?? 0
    if (queuedAt !== undefined) this.#times.queued = timestampOf(queuedAt)
  }

  note(name: ExecutionTime): void {
    this.#latest = Math.max(this.#latest, this.#clock.now())
    this.#times[name] = timestampOf(this.#latest)
  }

  all(): ExecutedActionMetadata['times'] {
    return this.#times
  }
}

const timestampOf = (ms: number): Timestamp => {
  const seconds = Math.floor(ms / 1000)
  return { seconds, nanos: Math.round((ms - seconds * 1000) * 1e6) }
}
