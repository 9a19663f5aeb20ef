import type { Property, ResourceAmounts, Submit } from '../scheduler/model/events.ts'
import { answerFromCache } from './cache-hit.ts'
import { type Caller, newLiveTask } from './live-task.ts'
import { newTaskId, type Shell } from './shell.ts'
import { sealSpec } from './spec-envelope.ts'
import type { OperationStatus } from './status.ts'
import type { Submission } from './submission.ts'
import { submissionProblem } from './submission-rules.ts'

/** Resolves when the task is acknowledged, or is over already because the cache had it; rejects with a FaultError. */
export function submit(shell: Shell, submission: Submission): Promise<OperationStatus> {
  const problem = submissionProblem(shell, submission)
  if (problem !== undefined) return Promise.reject(problem)
  if (waitsFirst(shell, submission)) return submitAfter(shell, submission)
  return new Promise((resolve, reject) => admit(shell, submission, { resolve, reject }))
}

const mayHit = ({ results }: Shell, { cacheable, skipsCache, actionKey }: Submission): boolean =>
  results !== undefined && cacheable === true && skipsCache !== true && actionKey !== undefined

const needsSync = ({ roots }: Shell, submission: Submission): boolean =>
  submission.durability === 'power' && roots?.makeDurable !== undefined && (submission.roots?.length ?? 0) > 0

const waitsFirst = (shell: Shell, submission: Submission): boolean =>
  mayHit(shell, submission) || needsSync(shell, submission)

async function submitAfter(shell: Shell, submission: Submission): Promise<OperationStatus> {
  // What the door gave may be a view into a buffer that it reads the next message into.
  const own = {
    ...submission,
    spec: new Uint8Array(submission.spec),
    ...(submission.note && { note: new Uint8Array(submission.note) }),
  }
  const { instance, actionKey, roots = [] } = own
  if (mayHit(shell, own) && actionKey !== undefined) {
    const result = await lookUp(shell, instance, actionKey)
    if (result !== undefined) return await answerFromCache(shell, own, result)
  }
  if (needsSync(shell, own)) await shell.roots?.makeDurable?.(roots)
  const problem = submissionProblem(shell, own) // once more, for that took its time
  if (problem !== undefined) throw problem
  return await new Promise((resolve, reject) => admit(shell, own, { resolve, reject }))
}

/** A cache that fails is a cache that has not got it. */
async function lookUp(shell: Shell, instance: string, actionKey: string): Promise<Uint8Array | undefined> {
  try {
    return await shell.results?.get(instance, actionKey)
  } catch (error) {
    shell.log.warn({ error, instance }, 'the cache could not be asked')
    return undefined
  }
}

const NONE: readonly Property[] = []
const NOTHING: ResourceAmounts = {}

function admit(shell: Shell, submission: Submission, caller: Caller): void {
  const { invocation = '', priority = 0, properties = NONE, demands = NOTHING, durability = 'process' } = submission
  const { instance, origin, actionKey, timeoutMs, cacheable = false, needsWaiter = false } = submission
  const id = newTaskId(shell)
  const now = shell.clock.now()
  const { envelope, spec } = sealSpec(submission, submission.spec)
  const hasRoots = shell.roots !== undefined && (submission.roots?.length ?? 0) > 0
  const task = newLiveTask(
    {
      id,
      instance,
      invocation,
      origin,
      actionKey,
      cacheable,
      mayStartEarly: submission.mayStartEarly ?? false,
      isToldLate: submission.isToldLate ?? false,
      timeoutMs,
      spec,
      acceptedAt: now,
      meter: shell.meter.of(instance, properties),
      durability,
      envelope,
      hasRoots,
      priority: heldPriority(priority),
      attemptsBefore: 0,
    },
    {
      name: submission.operation ?? shell.newId(),
      note: submission.note && new Uint8Array(submission.note),
      needsWaiter,
      durability,
      joinedAt: now,
      caller,
    },
  )
  shell.tasks.set(id, task)
  shell.operations.set(task.first.name, task.first)
  if (hasRoots) shell.roots?.hold(id, 'inputs', submission.roots ?? [])
  const event: Mutable<Submit> = {
    kind: 'submit',
    task: id,
    waiter: task.first.name,
    instance,
    invocation,
    priority,
    properties,
    demands,
  }
  if (cacheable && actionKey !== undefined) event.actionKey = actionKey // what must not be cached must not be shared
  if (submission.affinity !== undefined) event.affinity = submission.affinity
  if (timeoutMs !== undefined) event.timeoutMs = timeoutMs
  if (submission.estimateMs !== undefined) event.estimateMs = submission.estimateMs
  if (submission.refusesPreemptible) event.refusesPreemptible = true
  if (submission.interactive) event.interactive = true
  if (submission.maxRetries !== undefined) event.maxRetries = submission.maxRetries
  shell.dispatch(event)
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** As the scheduler holds it, so that the journal has what counts. */
const heldPriority = (priority: number): number => Math.round(Math.min(100, Math.max(-100, priority)))
