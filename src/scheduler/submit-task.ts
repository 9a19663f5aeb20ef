import { addWaiter } from './cancel-task.ts'
import type { GridState } from './grid.ts'
import type { Effect, RefusalWhy } from './model/effects.ts'
import type { Instant, QueuedRequest, Submit } from './model/events.ts'
import { amountsProblem, demandedAmounts } from './model/requirements.ts'
import { dequeue, enqueue } from './queue/enqueue.ts'
import { clampedPriority, instanceNamed, newTask } from './queue/new-task.ts'
import type { InstanceState, Task } from './queue/records.ts'
import { burstOf, type InstanceAccount } from './shares/usage-accounts.ts'

type Refusal = Omit<Extract<Effect, { kind: 'refused' }>, 'kind' | 'task'>

const SHORTEST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 60_000

/** Accepts a task, merges it with an identical one, or refuses it. */
export function submitTask(grid: GridState, event: Submit): void {
  const refuse = (why: RefusalWhy, what: string) => {
    grid.effects.push({ kind: 'refused', task: event.task, why, what })
  }
  if (grid.tasks.get(event.task) !== undefined)
    return refuse('duplicate', `the task id ${event.task} is already in use`)
  const demand = demandedAmounts(event.demands)
  const problem = amountsProblem(demand)
  if (problem !== undefined) return refuse('invalid', problem)
  const instance = instanceNamed(grid, event.instance)
  const tooMany = rateRefusal(grid, instance)
  if (tooMany === undefined && merge(grid, instance, event)) return
  const refused = tooMany ?? admissionRefusal(grid, instance, event)
  if (refused !== undefined) {
    grid.effects.push({ kind: 'refused', task: event.task, ...refused })
    return
  }
  const task = newTask(grid, event, { instance, demand, ageMs: 0, waiters: event.waiter })
  grid.tasks.move(task, 'enqueue')
  grid.effects.push({ kind: 'queued', task: task.id, attempt: 1 })
  grid.toPlace.push(task)
}

/** Merges the submission with an identical task: its waiter joins that task, and the more urgent priority counts. */
function merge(
  grid: GridState,
  instance: InstanceState,
  { task: submitted, actionKey, waiter, priority }: Submit,
): boolean {
  const task = actionKey === undefined ? undefined : grid.tasks.identical(instance, actionKey)
  if (task === undefined) return false
  addWaiter(task, waiter)
  grid.effects.push({ kind: 'merged', task: task.id, submitted, waiter })
  const sooner = clampedPriority(priority)
  if (sooner < task.priority) raise(grid, task, sooner)
  return true
}

function raise(grid: GridState, task: Task, priority: number): void {
  const waits = task.inGroup
  if (waits) dequeue(grid, task)
  task.priority = priority
  if (waits) enqueue(grid, task, false)
  grid.effects.push({ kind: 'raised', task: task.id, priority })
}

/** Checks the submission rate of the instance. Merged tasks count, since they cost CPU, too. */
function rateRefusal(grid: GridState, instance: InstanceAccount): Refusal | undefined {
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
function admissionRefusal(grid: GridState, instance: InstanceAccount, request: QueuedRequest): Refusal | undefined {
  const { maxQueued } = grid.options
  if (grid.tasks.waiting >= maxQueued) {
    return {
      why: 'queue-full',
      what: `queue full: ${grid.tasks.waiting} of ${maxQueued} tasks queued`,
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
function unknownProperty(grid: GridState, { properties }: QueuedRequest): string | undefined {
  const { anyRegistered, namesOffered, options } = grid
  if (!anyRegistered || !options.refuseUnknownProperties) return undefined
  return properties.find(({ name }) => !namesOffered.has(name))?.name
}

/** The time until a hundredth of the queue has drained, at the recent rate of finished tasks. */
function drainMs({ drain, options, now }: GridState): number {
  const rate = drain.rate * Math.exp(-(now - drain.at) / 10_000)
  const hundredth = Math.max(1, options.maxQueued / 100)
  return Math.round(Math.min(LONGEST_RETRY_MS, Math.max(SHORTEST_RETRY_MS, hundredth / Math.max(rate, 1e-9))))
}
