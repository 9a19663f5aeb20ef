import { FaultError, invalid } from '../../base/fault.ts'
import type { Effect } from '../../scheduler/model/effects.ts'
import type { EngineState } from '../state/engine-state.ts'
import { exhausted, shortened, unavailable } from '../tasks/faults.ts'
import { type LiveTask, newOperation } from '../tasks/live-task.ts'

type Refused = Extract<Effect, { kind: 'refused' }>
type Merged = Extract<Effect, { kind: 'merged' }>

/** When a refusal does not say when to come back. */
const RETRY_AFTER_MS = 1000

/** The same is under way: the operation waits for that, under its own name. */
export function join(engine: EngineState, { task: id, submitted }: Merged): void {
  const task = engine.live.tasks.get(id)
  const copy = engine.live.tasks.get(submitted)
  if (task === undefined || copy === undefined) return
  const { first } = copy
  engine.live.tasks.delete(submitted)
  if (copy.hasRoots) engine.roots?.release(submitted, 'inputs')
  const operation = newOperation(task, first)
  if (task.merged === undefined) task.merged = [operation]
  else task.merged.push(operation)
  engine.live.operations.set(operation.name, operation)
  if (operation.durability === 'power') task.durability = 'power'
  task.meter.merged()
  engine.recorder.mark(task)
}

export function refuseAdmission(engine: EngineState, task: LiveTask, refused: Refused): void {
  engine.live.remove(task)
  if (task.hasRoots) engine.roots?.release(task.id, 'inputs')
  engine.meter.refused(refused.why)
  task.first.submitter?.reject(refusal(engine, task, refused))
  task.first.submitter = undefined
}

function refusal(engine: EngineState, { instance }: LiveTask, refused: Refused): FaultError {
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
      // Those who offered it before our restart may not be back yet.
      return engine.instant < engine.reconnectUntil
        ? unavailable(`${what} since the restart; its workers may be on their way`)
        : invalid(what)
    case 'invalid':
      return invalid(what)
  }
}
