import { type GridState, waitingTasks } from '../grid.ts'
import type { Effect } from '../model/effects.ts'
import type { Instant, TaskRequest } from '../model/events.ts'
import { burstOf, type InstanceState } from '../shares/shares.ts'

type Refusal = Omit<Extract<Effect, { kind: 'refused' }>, 'kind' | 'task'>

const SHORTEST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 60_000

/** Too many a second; asked of every task, since one that is merged costs us too. */
export function rateRefusal(grid: GridState, instance: InstanceState): Refusal | undefined {
  const { perSecond } = instance.limits
  if (perSecond === undefined) return undefined
  refillTokens(instance, perSecond, grid.now)
  if (instance.tokens >= 1) {
    instance.tokens--
    return undefined
  }
  return {
    why: 'rate',
    what: `instance "${instance.name}" may submit ${perSecond} tasks a second`,
    retryAfterMs: Math.ceil(((1 - instance.tokens) / perSecond) * 1000),
  }
}

function refillTokens(instance: InstanceState, perSecond: number, now: Instant): void {
  const refilled = instance.tokens + ((now - instance.tokensAt) / 1000) * perSecond
  instance.tokens = Math.min(burstOf(instance.limits), refilled)
  instance.tokensAt = now
}

/** A busy grid refuses nothing: only what is full or can never run is refused. */
export function admissionRefusal(grid: GridState, instance: InstanceState, request: TaskRequest): Refusal | undefined {
  const { maxQueued } = grid.options
  if (waitingTasks(grid) >= maxQueued) {
    return { why: 'queue-full', what: `${maxQueued} tasks are waiting, as many as may`, retryAfterMs: drainMs(grid) }
  }
  const { unfinished } = instance.limits
  if (unfinished !== undefined && instance.unfinished >= unfinished) {
    const what = `instance "${instance.name}" has ${instance.unfinished} unfinished tasks, as many as it may`
    return { why: 'quota', what, retryAfterMs: drainMs(grid) }
  }
  const unknown = unknownProperty(grid, request)
  return unknown === undefined
    ? undefined
    : { why: 'unknown-property', what: `no worker has ever offered a property named ${unknown}` }
}

/**
 * Where workers are started on demand, the first task that needs a property comes before the first worker that offers
 * it, so a new name is refused only on request. Before the first worker is there, nothing can be known.
 */
function unknownProperty(grid: GridState, { properties }: TaskRequest): string | undefined {
  const { anyRegistered, namesOffered, options } = grid
  if (!anyRegistered || !options.refuseUnknownProperties) return undefined
  return properties.find(({ name }) => !namesOffered.has(name))?.name
}

/** How long until a hundredth of the queue is gone, at the rate at which tasks lately ended. */
function drainMs({ drain, options, now }: GridState): number {
  const rate = drain.rate * Math.exp(-(now - drain.at) / 10_000)
  const wanted = Math.max(1, options.maxQueued / 100)
  return Math.round(Math.min(LONGEST_RETRY_MS, Math.max(SHORTEST_RETRY_MS, wanted / Math.max(rate, 1e-9))))
}
