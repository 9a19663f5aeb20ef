import type { Effect } from '../model/effects.ts'
import type { Instant, QueuedRequest } from '../model/events.ts'
import { burstOf, type InstanceAccount } from '../shares/shares.ts'
import { type QueueState, waitingTasks } from './queue-state.ts'

type Refusal = Omit<Extract<Effect, { kind: 'refused' }>, 'kind' | 'task'>

const SHORTEST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 60_000

/** Checks the submission rate of the instance. Merged tasks count, since they cost CPU, too. */
export function rateRefusal(grid: QueueState, instance: InstanceAccount): Refusal | undefined {
  const { perSecond } = instance.limits
  if (perSecond === undefined) return undefined
  refillTokens(instance, perSecond, grid.now)
  if (instance.tokens >= 1) {
    instance.tokens--
    return undefined
  }
  return {
    why: 'rate',
    what: `instance "${instance.name}" has reached its limit of ${perSecond} new tasks per second`,
    retryAfterMs: Math.ceil(((1 - instance.tokens) / perSecond) * 1000),
  }
}

function refillTokens(instance: InstanceAccount, perSecond: number, now: Instant): void {
  const refilled = instance.tokens + ((now - instance.tokensAt) / 1000) * perSecond
  instance.tokens = Math.min(burstOf(instance.limits), refilled)
  instance.tokensAt = now
}

/** Refuses a task when a limit is reached or when the task can never run. A busy grid is no reason to refuse. */
export function admissionRefusal(
  grid: QueueState,
  instance: InstanceAccount,
  request: QueuedRequest,
): Refusal | undefined {
  const { maxQueued } = grid.options
  if (waitingTasks(grid) >= maxQueued) {
    return {
      why: 'queue-full',
      what: `queue full: ${waitingTasks(grid)} of ${maxQueued} tasks queued`,
      retryAfterMs: drainMs(grid),
    }
  }
  const { unfinished } = instance.limits
  if (unfinished !== undefined && instance.unfinished >= unfinished) {
    const what = `instance "${instance.name}" has reached its limit of ${unfinished} unfinished tasks`
    return { why: 'quota', what, retryAfterMs: drainMs(grid) }
  }
  const unknown = unknownProperty(grid, request)
  return unknown === undefined
    ? undefined
    : { why: 'unknown-property', what: `no worker has ever offered a property named ${unknown}` }
}

/**
 * With workers that start on demand, the first task with a property arrives before the first worker that offers it. So
 * an unknown name is refused only with `refuseUnknownProperties`, and only after the first worker has registered.
 */
function unknownProperty(grid: QueueState, { properties }: QueuedRequest): string | undefined {
  const { anyRegistered, namesOffered, options } = grid
  if (!anyRegistered || !options.refuseUnknownProperties) return undefined
  return properties.find(({ name }) => !namesOffered.has(name))?.name
}

/** The time until a hundredth of the queue has drained, at the recent rate of finished tasks. */
function drainMs({ drain, options, now }: QueueState): number {
  const rate = drain.rate * Math.exp(-(now - drain.at) / 10_000)
  const wanted = Math.max(1, options.maxQueued / 100)
  return Math.round(Math.min(LONGEST_RETRY_MS, Math.max(SHORTEST_RETRY_MS, wanted / Math.max(rate, 1e-9))))
}
