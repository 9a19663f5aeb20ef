import { FaultError } from '../../base/fault.ts'
import type { Accepted, Finished } from '../../storage/journal/fact.ts'
import type { EngineState } from '../state/engine-state.ts'
import { sealEnd } from '../tasks/end-envelope.ts'
import { sealNote } from '../tasks/note-envelope.ts'
import { sealSpec } from '../tasks/spec-envelope.ts'
import type { OperationStatus } from '../tasks/status.ts'
import type { TaskRequest } from '../tasks/task-request.ts'

/**
 * No task runs, but the operation can be queried like any other. The caller already has the result, so a failed journal
 * write is not reported to it.
 */
export async function answerFromCache(
  engine: EngineState,
  submission: TaskRequest,
  result: Uint8Array,
): Promise<OperationStatus> {
  const { instance, invocation = '', priority = 0, origin, actionKey, properties = [] } = submission
  const { needsWaiter = false, note, spec } = submission
  const operation = submission.operation ?? engine.newId()
  const task = engine.live.newTaskId()
  const at = engine.clock.now()
  const durability = 'process'
  const what = 'the cache had it'
  const accepted: Accepted = {
    kind: 'accepted',
    task,
    operation,
    note: sealNote({ needsWaiter, durability, note }),
    instance,
    invocation,
    priority,
    origin,
    spec: sealSpec(submission, spec).envelope,
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
