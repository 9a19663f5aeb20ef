/** The calls of workers about an attempt that they hold. */
import { attemptId as idOf, parseAttemptId } from '../model/fencing.ts'
import type { AttemptEnd } from '../scheduler/model/events.ts'
import type { EngineState } from './engine-state.ts'
import { acknowledgeInputs, sendInputs } from './inputs.ts'
import { supersedeAttempt } from './late-reports.ts'
import { shortened } from './tasks/faults.ts'
import type { Report } from './tasks/live-parts.ts'
import type { LiveTask } from './tasks/live-task.ts'
import { OutputRing } from './tasks/output-ring.ts'
import type { LocalWorkerService } from './workers/worker-service.ts'
import type { AttemptReport, WorkersAttempt } from './workers/worker-session.ts'

type AttemptCalls = Pick<
  LocalWorkerService,
  'started' | 'finished' | 'returned' | 'output' | 'held' | 'inputTaken' | 'attemptOf'
>

export const attemptCalls = (engine: EngineState): AttemptCalls => ({
  started(worker, attemptId) {
    const task = heldTask(engine, worker, attemptId)
    const { fencing } = task ?? {}
    if (task === undefined || fencing === undefined) {
      engine.dispatch({ kind: 'started', worker, ...parseAttemptId(attemptId) })
      return false
    }
    // The report of the end may overtake the report of the start. The scheduler has then already removed the attempt.
    if (task.ending === undefined) engine.dispatch({ kind: 'started', worker, task: task.id, fencing })
    if (task.inputs !== undefined) sendInputs(engine, task)
    return true
  },
  finished: (attempt, report) => finished(engine, attempt, report),
  returned({ worker, attemptId }, { what, noSlot }) {
    const attempt = parseAttemptId(attemptId)
    const isHeld = engine.live.heldBy(worker, attempt) !== undefined
    engine.dispatch({ kind: 'returned', worker, what: shortened(what), ...attempt, ...(noSlot && { noSlot }) })
    return isHeld
  },
  output({ worker, attemptId, ...printed }) {
    const task = heldTask(engine, worker, attemptId)
    if (task === undefined) return false
    task.output ??= new OutputRing(engine.limits.outputBytes)
    task.output.add({ ...printed, attempt: task.attempt })
    return true
  },
  held({ worker, attemptId }) {
    const task = heldTask(engine, worker, attemptId)
    if (task === undefined || task.ending !== undefined) return undefined
    const { instance, origin } = task.accepted
    return { instance, origin, spec: task.spec }
  },
  inputTaken({ worker, attemptId }, number) {
    const task = heldTask(engine, worker, attemptId)
    if (task?.inputs !== undefined) acknowledgeInputs(task.inputs, number)
  },
  attemptOf(worker, operation) {
    const task = engine.live.operations.get(operation)?.task
    if (task?.worker !== worker || task.fencing === undefined || task.ending !== undefined) return undefined
    return { attemptId: idOf(task.id, task.fencing), attempt: task.attempt }
  },
})

/** Returns the task if the worker holds the attempt. Throws when the id is malformed. */
function heldTask(engine: EngineState, worker: string, attemptId: string): LiveTask | undefined {
  const task = engine.live.tasks.get(attemptId.slice(0, attemptId.lastIndexOf('.')))
  // Most ids are equal to the one that this process has sent, and need not be parsed.
  if (task?.attemptId === attemptId && task.worker === worker) return task
  return engine.live.heldBy(worker, parseAttemptId(attemptId))
}

function finished(
  engine: EngineState,
  attempt: WorkersAttempt,
  report: AttemptReport,
): Promise<'applied' | 'superseded'> {
  const task = heldTask(engine, attempt.worker, attempt.attemptId)
  if (task?.fencing === undefined || task.record === 'refused') {
    supersedeAttempt(engine, attempt, { task, outcome: report.outcome })
    return Promise.resolve('superseded')
  }
  const { id, fencing } = task
  const outcome = boundedOutcome(engine, report)
  const result = outcome === report.outcome ? report.result : undefined
  const succeeded = outcome.kind === 'result' && outcome.succeeded
  return new Promise((answer) => {
    const kept: Report = { fencing, result, roots: report.roots ?? NO_ROOTS, succeeded, answer }
    if (task.ending !== undefined) {
      // The worker sent the same report again while the first one is being recorded.
      if (task.repeated === undefined) task.repeated = [kept]
      else task.repeated.push(kept)
      return
    }
    task.report?.answer('applied')
    task.report = kept
    engine.dispatch({ kind: 'finished', worker: attempt.worker, outcome, task: id, fencing })
  })
}

const NO_ROOTS: Report['roots'] = []

/** A result that is too large to store is a final fault. */
function boundedOutcome({ limits }: EngineState, { outcome, result }: AttemptReport): AttemptEnd {
  if (result === undefined || result.length <= limits.resultBytes) return outcome
  const what = `its result has ${result.length} bytes; the limit is ${limits.resultBytes}`
  return { kind: 'fault', what, final: true }
}
