/** The effects of a submit that does not become a separate task: it was merged or refused. */
import { FaultError, invalid } from '../base/fault.ts'
import type { Effect } from '../scheduler/model/effects.ts'
import type { EngineState } from './engine-state.ts'
import { exhausted, shortened, unavailable } from './tasks/faults.ts'
import { type LiveTask, Operation } from './tasks/live-task.ts'

type Refused = Extract<Effect, { kind: 'refused' }>
type Merged = Extract<Effect, { kind: 'merged' }>

/** The retry delay of a refusal that names none. */
const RETRY_AFTER_MS = 1000

/** An identical task is open: the new operation joins it, under its own name. */
export function mergeTask(engine: EngineState, { task: id, submitted }: Merged): void {
  const task = engine.live.tasks.get(id)
  const copy = engine.live.tasks.get(submitted)
  if (task === undefined || copy === undefined) return
  engine.live.tasks.delete(submitted)
  if (copy.accepted.hasRoots) engine.roots?.release(submitted, 'inputs')
  const operation = new Operation(task, copy.first)
  if (task.merged === undefined) task.merged = [operation]
  else task.merged.push(operation)
  engine.live.operations.set(operation.name, operation)
  if (operation.durability === 'power') task.durability = 'power'
  task.accepted.meter.merged()
  engine.live.markChanged(task)
}

export function refuseTask(engine: EngineState, task: LiveTask, refused: Refused): void {
  engine.live.remove(task)
  if (task.accepted.hasRoots) engine.roots?.release(task.id, 'inputs')
  engine.meter.refused(refused.why)
  task.first.submitter?.reject(refusal(engine, task.accepted.instance, refused))
  task.first.submitter = undefined
}

function refusal(engine: EngineState, instance: string, refused: Refused): FaultError {
  const { why, what, retryAfterMs = RETRY_AFTER_MS } = refused
  switch (why) {
    case 'queue-full':
      return exhausted('the queue', retryAfterMs, 'queue')
    case 'quota':
      return exhausted(`what instance "${shortened(instance)}" may have unfinished`, retryAfterMs)
    case 'rate':
      return exhausted(`what instance "${shortened(instance)}" may submit in a second`, retryAfterMs)
    case 'duplicate':
      return new FaultError({ kind: 'bug', what })
    case 'unknown-property':
      // The workers that offered it before the restart of the server may not have reconnected yet.
      return engine.instant < engine.reconnectUntil
        ? unavailable(`${what} since the restart; its workers may still be reconnecting`)
        : invalid(what)
    case 'invalid':
      return invalid(what)
  }
}
