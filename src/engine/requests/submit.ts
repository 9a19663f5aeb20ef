import type { Property, ResourceAmounts, Submit } from '../../scheduler/model/events.ts'
import type { EngineState } from '../state/engine-state.ts'
import { newLiveTask, type PendingSubmit } from '../tasks/live-task.ts'
import { sealSpec } from '../tasks/spec-envelope.ts'
import type { OperationStatus } from '../tasks/status.ts'
import type { TaskRequest } from '../tasks/task-request.ts'
import { answerFromCache } from './cache-hit.ts'
import { submissionProblem } from './task-request-rules.ts'

/** Resolves when the task is acknowledged, or is over already because the cache had it; rejects with a FaultError. */
export function submit(engine: EngineState, submission: TaskRequest): Promise<OperationStatus> {
  const problem = submissionProblem(engine, submission)
  if (problem !== undefined) return Promise.reject(problem)
  if (waitsFirst(engine, submission)) return submitAfter(engine, submission)
  return new Promise((resolve, reject) => admit(engine, submission, { resolve, reject }))
}

const mayHit = ({ results }: EngineState, { cacheable, skipsCache, actionKey, cached }: TaskRequest): boolean =>
  (cached === undefined ? results !== undefined : cached.result !== undefined) &&
  cacheable === true &&
  skipsCache !== true &&
  actionKey !== undefined

const needsSync = ({ roots }: EngineState, submission: TaskRequest): boolean =>
  submission.durability === 'power' && roots?.makeDurable !== undefined && (submission.roots?.length ?? 0) > 0

const waitsFirst = (engine: EngineState, submission: TaskRequest): boolean =>
  mayHit(engine, submission) || needsSync(engine, submission)

async function submitAfter(engine: EngineState, submission: TaskRequest): Promise<OperationStatus> {
  // What the door gave may be a view into a buffer that it reads the next message into.
  const own = {
    ...submission,
    spec: new Uint8Array(submission.spec),
    ...(submission.note && { note: new Uint8Array(submission.note) }),
  }
  const { instance, actionKey, roots = [] } = own
  if (mayHit(engine, own) && actionKey !== undefined) {
    const result = own.cached === undefined ? await lookUp(engine, instance, actionKey) : own.cached.result
    if (result !== undefined) return await answerFromCache(engine, own, result)
  }
  if (needsSync(engine, own)) await engine.roots?.makeDurable?.(roots)
  const problem = submissionProblem(engine, own) // once more, for that took its time
  if (problem !== undefined) throw problem
  return await new Promise((resolve, reject) => admit(engine, own, { resolve, reject }))
}

/** A cache that fails is a cache that has not got it. */
async function lookUp(engine: EngineState, instance: string, actionKey: string): Promise<Uint8Array | undefined> {
  try {
    return await engine.results?.get(instance, actionKey)
  } catch (error) {
    engine.log.warn({ error, instance }, 'cannot read the action cache')
    return undefined
  }
}

const NONE: readonly Property[] = []
const NOTHING: ResourceAmounts = {}

function admit(engine: EngineState, submission: TaskRequest, submitter: PendingSubmit): void {
  const { invocation = '', priority = 0, properties = NONE, demands = NOTHING, durability = 'process' } = submission
  const { instance, origin, actionKey, timeoutMs, cacheable = false, needsWaiter = false } = submission
  const id = engine.live.newTaskId()
  const now = engine.clock.now()
  const { envelope, spec } = sealSpec(submission, submission.spec)
  const hasRoots = engine.roots !== undefined && (submission.roots?.length ?? 0) > 0
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
      meter: engine.meter.of(instance, properties),
      durability,
      envelope,
      hasRoots,
      priority: heldPriority(priority),
      attemptsBefore: 0,
    },
    {
      name: submission.operation ?? engine.newId(),
      note: submission.note && new Uint8Array(submission.note),
      needsWaiter,
      durability,
      joinedAt: now,
      submitter,
    },
  )
  engine.live.add(task)
  if (hasRoots) engine.roots?.hold(id, 'inputs', submission.roots ?? [])
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
  engine.dispatch(event)
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** As the scheduler holds it, so that the journal has what counts. */
const heldPriority = (priority: number): number => Math.round(Math.min(100, Math.max(-100, priority)))
