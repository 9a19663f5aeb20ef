import type { Clock } from '../../base/clock.ts'
import type { ExecutedActionMetadata, ExecutionTime } from '../../model/action-result.ts'
import type { Timestamp } from '../../model/timestamp.ts'
import type { Executor } from './executor.ts'

export interface TimedOptions {
  readonly clock: Clock
  /** The name of this worker, for the records. */
  readonly worker: string
}

/** Adds to each result the worker's name and the times at which the parts of the attempt began and ended. */
export const timed = (inner: Executor, { clock, worker }: TimedOptions): Executor => ({
  async execute(attempt, signal) {
    const { note, times } = attemptTimes(clock, attempt.queuedAt)
    note('workerStart')
    const result = await inner.execute({ ...attempt, note }, signal)
    note('workerCompleted')
    const { virtualDurationMs, auxiliary = [] } = result.metadata ?? {}
    return { ...result, metadata: { worker, times, virtualDurationMs, auxiliary } }
  },
})

/** Clients subtract these times from each other, so none is before the one that was noted before it. */
function attemptTimes(clock: Clock, queuedAt: number | undefined) {
  const times: { -readonly [K in keyof ExecutedActionMetadata['times']]: Timestamp } = {}
  let latest = queuedAt ?? 0
  if (queuedAt !== undefined) times.queued = timestampOf(queuedAt)
  const note = (name: ExecutionTime): void => {
    latest = Math.max(latest, clock.now())
    times[name] = timestampOf(latest)
  }
  return { note, times }
}

const timestampOf = (ms: number): Timestamp => {
  const seconds = Math.floor(ms / 1000)
  return { seconds, nanos: Math.round((ms - seconds * 1000) * 1e6) }
}
