/** From the scheduler's word that a task is over to the moment when it is told: once, and only when it is durable. */

import { sameFencing } from '../../model/fencing.ts'
import type { Effect } from '../../scheduler/model/effects.ts'
import { endInputs } from '../inputs/send-inputs.ts'
import type { EngineState } from '../state/engine-state.ts'
import { sealEnd } from '../tasks/end-envelope.ts'
import type { Ending, LiveTask, Report } from '../tasks/live-task.ts'

type Finished = Extract<Effect, { kind: 'finished' }>

/** The end is what the worker said it was. A task that was cancelled has no result, whatever its worker says. */
export const isReported = ({ fencing, state }: Finished, report: Report | undefined): report is Report =>
  report !== undefined && fencing !== undefined && state !== 'cancelled' && sameFencing(report.fencing, fencing)

export function endingOf(engine: EngineState, task: LiveTask, effect: Finished): Ending {
  const { state, why, what } = effect
  const report = isReported(effect, task.report) ? task.report : undefined
  const roots = report?.roots ?? []
  const { queuedAt, startedAt, unstarted } = task
  const envelope = sealEnd({ why, queuedAt, startedAt, unstarted, cached: false, result: report?.result, roots })
  const size = report?.result?.length
  return {
    state,
    why,
    what,
    at: engine.now,
    fencing: report && effect.fencing,
    result: size === undefined ? undefined : envelope.subarray(envelope.length - size),
    roots,
    envelope,
    goesToCache: state === 'completed' && report?.succeeded === true && task.cacheable && task.actionKey !== undefined,
  }
}

/** Both the task and its end are durable: then everybody who waits is told. */
export function conclude(engine: EngineState, task: LiveTask): void {
  const { ending } = task
  if (ending === undefined) return
  keepOutputs(engine, task, ending)
  wake(engine, task, ending)
}

function wake(engine: EngineState, task: LiveTask, ending: Ending): void {
  engine.live.retire(task)
  const ranFrom = task.startedAt ?? task.assignedAt
  task.meter.ended(ending.state, ranFrom === undefined ? undefined : ending.at - ranFrom)
  answerReports(task, 'applied')
  task.output?.end()
  endInputs(task)
  engine.watches.markDue(task)
}

export function answerReports(task: LiveTask, verdict: 'applied' | 'superseded'): void {
  task.report?.answer(verdict)
  task.report = undefined
  for (const report of task.repeated ?? []) report.answer(verdict)
  task.repeated = undefined
}

function keepOutputs(engine: EngineState, task: LiveTask, { roots, at }: Ending): void {
  if (engine.roots === undefined) return
  if (roots.length > 0) {
    engine.roots.hold(task.id, 'outputs', roots)
    engine.keptOutputs.set(task.id, at)
  }
  if (task.hasRoots) engine.roots.release(task.id, 'inputs')
}
