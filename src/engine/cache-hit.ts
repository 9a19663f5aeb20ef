import { FaultError } from '../base/fault.ts'
import type { Accepted, Finished } from '../storage/journal/fact.ts'
import type { EngineState } from './engine-state.ts'
import { sealEnd, sealNote, sealSpec } from './tasks/envelopes.ts'
import type { OperationStatus } from './tasks/status.ts'
import type { TaskRequest } from './tasks/task-request.ts'

/** The steps that a request needs before the scheduler gets it. */
export interface SubmitSteps {
  /** The action cache may have the result. */
  readonly mayHit: boolean
  /** The inputs must be on disk before the task is accepted. */
  readonly needsSync: boolean
}

/** Returns the status of the operation if the action cache has its result. `request` has its own copy of the bytes. */
export async function prepareSubmit(
  engine: EngineState,
  request: TaskRequest,
  { mayHit, needsSync }: SubmitSteps,
): Promise<OperationStatus | undefined> {
  if (mayHit) {
    const result = request.cached === undefined ? await lookUp(engine, request) : request.cached.result
    if (result !== undefined) return await answerFromCache(engine, request, result)
  }
  if (needsSync) await engine.roots?.makeDurable?.(request.roots ?? [])
  return undefined
}

/** A failing cache is treated as one that does not have the result. */
async function lookUp(engine: EngineState, { instance, actionKey = '' }: TaskRequest): Promise<Uint8Array | undefined> {
  try {
    return await engine.results?.get(instance, actionKey)
  } catch (error) {
    engine.log.warn({ error, instance }, 'cannot read the action cache')
    return undefined
  }
}

/**
 * No task runs, but the operation can be queried like any other. The caller already has the result, so a failed journal
 * write is not reported to it.
 */
async function answerFromCache(
  engine: EngineState,
  request: TaskRequest,
  result: Uint8Array,
): Promise<OperationStatus> {
  const { instance, invocation = '', priority = 0, origin, actionKey, properties = [] } = request
  const { needsWaiter = false, note, spec } = request
  const operation = request.operation ?? engine.newId()
  const task = engine.live.newTaskId()
  const at = engine.clock.now()
  const durability = 'process'
  const what = 'result from the action cache'
  const accepted: Accepted = {
    kind: 'accepted',
    task,
    operation,
    note: sealNote({ needsWaiter, durability, note }),
    labels: request.labels,
    instance,
    invocation,
    priority,
    origin,
    spec: sealSpec(request, spec),
    actionKey,
    durability,
    at,
  }
  const times = { queuedAt: at, startedAt: undefined, unstarted: 0 }
  const envelope = sealEnd({ why: 'result', ...times, cached: true, result, roots: [] })
  const finished: Finished = { kind: 'finished', task, state: 'completed', result: envelope, reason: what, at }
  engine.meter.of(instance, properties).hit()
  try {
    await engine.journal.record([accepted, finished], durability)
  } catch (error) {
    if (error instanceof FaultError && error.fault.kind === 'invalid') throw error
    engine.log.warn({ error, task }, 'cannot record a cache hit')
  }
  return {
    operation,
    task,
    instance,
    origin,
    state: 'completed',
    attempt: 0,
    starts: 0,
    worker: undefined,
    acceptedAt: at,
    joinedAt: at,
    queuedAt: at,
    assignedAt: undefined,
    startedAt: undefined,
    end: { state: 'completed', why: 'result', what, at, cached: true, result },
    spec,
    note,
  }
}
