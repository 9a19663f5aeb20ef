import type { EventContext } from '../model/context.ts'
import type { SchedulerOptions, Strategy } from '../model/options.ts'
import { errorRateAt } from '../workers/health.ts'
import { loadOf, type Worker } from '../workers/worker.ts'

type Circumstances = Pick<EventContext, 'options' | 'now'>

/** Chooses one of several workers that all have space for the task. */
type Choose = (workers: readonly Worker[], circumstances: Circumstances) => Worker | undefined

/** The first worker with the highest score. */
function best(workers: readonly Worker[], score: (worker: Worker) => number): Worker | undefined {
  let found: Worker | undefined
  let most = Number.NEGATIVE_INFINITY
  for (const worker of workers) {
    const value = score(worker)
    if (value > most) [found, most] = [worker, value]
  }
  return found
}

const anyOf: Choose = (workers, { options }) => workers[Math.floor(options.random() * workers.length)]

export const CHOOSE: Readonly<Record<Strategy, Choose>> = {
  random: anyOf,
  // The worker whose last lease is the oldest: equal to a cycle, and stable when workers come and go.
  'round-robin': (workers) => best(workers, ({ turn }) => -turn),
  'least-loaded': (workers) => best(workers, (worker) => -loadOf(worker)),
  weighted: (workers, { options, now }) => best(workers, (worker) => scoreOf(worker, options, now)),
  'two-choices'(workers, circumstances) {
    const pair = [anyOf(workers, circumstances), anyOf(workers, circumstances)]
    return best(
      pair.filter((one) => one !== undefined),
      (worker) => -loadOf(worker),
    )
  },
}

/** From 0 to the sum of the weights. A latency of one second from lease to start halves the latency term. */
function scoreOf(worker: Worker, { weights }: SchedulerOptions, now: number): number {
  const { health } = worker
  return (
    weights.load * (1 - loadOf(worker)) +
    weights.success * (1 - errorRateAt(health, now)) +
    weights.latency / (1 + health.latencyMs / 1000)
  )
}
