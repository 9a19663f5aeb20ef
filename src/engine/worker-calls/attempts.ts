import { invalid } from '../../base/fault.ts'
import { type Fencing, parseAttemptId } from '../../model/fencing.ts'
import type { AttemptEnd, AttemptRef } from '../../scheduler/model/events.ts'
import { sendInputs } from '../inputs/send-inputs.ts'
import type { EngineState } from '../state/engine-state.ts'
import { currentTask } from '../tasks/current-task.ts'
import { absent, exhausted, shortened, unavailable } from '../tasks/faults.ts'
import type { LiveTask, Report } from '../tasks/live-task.ts'
import { OutputRing } from '../tasks/output-ring.ts'
import { newLink, type SessionLink } from '../workers/worker-link.ts'
import type {
  AttemptReport,
  WorkerDescription,
  WorkerPulse,
  WorkerSession,
  WorkersAttempt,
} from '../workers/worker-session.ts'
import { noteNames } from './offered-names.ts'

const MOST_ATTEMPTS_LISTED = 100_000
const RETRY_AFTER_MS = 10_000

/** A worker comes, or comes again: then what it had is what it lists, and its old session is over. */
export function register(engine: EngineState, description: WorkerDescription, session: WorkerSession): void {
  if (engine.isClosing) throw unavailable('the server is stopping')
  const { worker, running, resources = {}, ...rest } = description
  refuseWrong(engine, description)
  const attempts = running && attemptsOf(running)
  if (engine.links.find(worker) === undefined && engine.links.size >= engine.limits.workers)
    throw exhausted('room for workers', RETRY_AFTER_MS)
  const before = engine.links.add(newLink(description, session, engine.clock.now()))
  engine.lost.remove(worker)
  if (before !== undefined) engine.links.drop(before, 'it registered again')
  noteNames(engine, rest.properties)
  engine.dispatch({
    kind: 'register',
    worker,
    slots: rest.slots,
    properties: rest.properties,
    resources,
    ...(rest.prefetch !== undefined && { prefetch: rest.prefetch }),
    ...(rest.preemptible && { preemptible: true }),
    ...(rest.pulls && { pulls: true }),
    ...(rest.notReady && { notReady: true }),
    ...(attempts && { running: attempts }),
  })
}

function refuseWrong({ limits }: EngineState, { worker, properties }: WorkerDescription): void {
  if (worker === '' || worker.length > limits.nameLength) throw invalid('a worker must have a name, and no long one')
  if (properties.length > limits.properties) throw invalid('a worker offers too many properties', 'range')
  for (const { name, value } of properties) {
    if (name.length + value.length > limits.nameLength) throw invalid('a property is too long', 'range')
  }
}

function attemptsOf(ids: readonly string[]): AttemptRef[] {
  if (ids.length > MOST_ATTEMPTS_LISTED) throw invalid('a worker lists too many attempts', 'range')
  return ids.map(parseAttemptId)
}

/** False for a worker that is not known, and has to register. */
export function heartbeat(
  engine: EngineState,
  worker: string,
  { holds, load, draining, preempted }: WorkerPulse = {},
): boolean {
  const link = engine.links.find(worker)
  if (link === undefined) return false
  if (preempted) {
    engine.log.info({ worker }, 'worker is preempted, its tasks are queued again')
    engine.dispatch({ kind: 'preempted', worker })
    return true
  }
  const attempts = holds && attemptsOf(holds)
  link.heardAt = engine.clock.now()
  link.isCutOff = false
  engine.dispatch({
    kind: 'heartbeat',
    worker,
    ...(attempts && { holds: attempts }),
    ...(load !== undefined && { load }),
    ...(draining && { draining }),
  })
  return true
}

/** False when the attempt is not the task's any more: the worker should drop it. */
export function started(engine: EngineState, worker: string, attemptId: string): boolean {
  const attempt = parseAttemptId(attemptId)
  const task = currentTask(engine.live, worker, attempt)
  // Its end came by another way and overtook this: to the scheduler it would be an attempt that it does not know.
  if (task?.ending === undefined) engine.dispatch({ kind: 'started', worker, ...attempt })
  if (task !== undefined) sendInputs(engine, task)
  return task !== undefined
}

/**
 * Resolves when the worker may forget the attempt: its end is durable, or nobody wants it. Until then it should say it
 * again when the connection breaks.
 */
export function finished(
  engine: EngineState,
  { worker, attemptId }: WorkersAttempt,
  report: AttemptReport,
): Promise<'applied' | 'superseded'> {
  const given = engine.live.tasks.get(attemptId.slice(0, attemptId.lastIndexOf('.')))
  // Most say back what they were given, and there is nothing to read in it.
  if (
    given?.attemptId === attemptId &&
    given.fencing !== undefined &&
    given.worker === worker &&
    given.record !== 'refused'
  )
    return finishedUnder(engine, given, { fencing: given.fencing, worker, report })
  const attempt = parseAttemptId(attemptId)
  const task = currentTask(engine.live, worker, attempt)
  if (task === undefined || task.record === 'refused') {
    supersede(engine, { worker, attemptId, attempt, task }, report.outcome)
    return Promise.resolve('superseded')
  }
  return finishedUnder(engine, task, { fencing: attempt.fencing, worker, report })
}

interface CurrentReport {
  readonly fencing: Fencing
  readonly worker: string
  readonly report: AttemptReport
}

const finishedUnder = (
  engine: EngineState,
  task: LiveTask,
  { fencing, worker, report }: CurrentReport,
): Promise<'applied' | 'superseded'> =>
  new Promise((answer) => {
    const outcome = boundedOutcome(engine, report)
    const result = outcome === report.outcome ? report.result : undefined
    const succeeded = outcome.kind === 'result' && outcome.succeeded
    const told: Report = { fencing, result, roots: report.roots ?? NONE, succeeded, answer }
    if (task.ending !== undefined) {
      // The same again, while the first is being recorded.
      if (task.repeated === undefined) task.repeated = [told]
      else task.repeated.push(told)
      return
    }
    task.report?.answer('applied')
    task.report = told
    engine.dispatch({ kind: 'finished', worker, outcome, task: task.id, fencing })
  })

const NONE: Report['roots'] = []

/** A result that is too large to keep is none: the task ends all the same. */
function boundedOutcome({ limits }: EngineState, { outcome, result }: AttemptReport): AttemptEnd {
  if (result === undefined || result.length <= limits.resultBytes) return outcome
  const what = `its result has ${result.length} bytes, and ${limits.resultBytes} are kept at most`
  return { kind: 'fault', what, final: true }
}

interface Stale extends WorkersAttempt {
  readonly attempt: AttemptRef
  readonly task: LiveTask | undefined
}

const STATE_OF = { result: 'completed', timeout: 'timeout', stopped: 'cancelled', fault: 'failed' } as const

/** A worker that never held the lease changes nothing: not even the list of late reports. */
function supersede(engine: EngineState, { worker, attemptId, attempt, task }: Stale, outcome: AttemptEnd): void {
  // The scheduler learns that the worker has the attempt no more: it may have waited for that slot.
  if (task !== undefined || engine.links.find(worker) !== undefined)
    engine.dispatch({ kind: 'finished', worker, outcome, ...attempt })
  if (task === undefined && engine.formerLeases.take(attemptId, worker))
    engine.recorder.recordLate(
      { ...attempt, state: STATE_OF[outcome.kind], reason: `from worker ${shortened(worker)}` },
      engine.live.tasks.get(attempt.task),
    )
}

export type HeldTask = Pick<LiveTask, 'instance' | 'origin' | 'spec'>

export function held(engine: EngineState, { worker, attemptId }: WorkersAttempt): HeldTask | undefined {
  const task = currentTask(engine.live, worker, parseAttemptId(attemptId))
  return task?.ending === undefined ? task : undefined
}

/** False when the worker does not hold the attempt. */
export function returned(
  engine: EngineState,
  { worker, attemptId }: WorkersAttempt,
  { what, noSlot }: Return,
): boolean {
  const attempt = parseAttemptId(attemptId)
  const isHeld = currentTask(engine.live, worker, attempt) !== undefined
  engine.dispatch({ kind: 'returned', worker, what: shortened(what), ...attempt, ...(noSlot && { noSlot }) })
  return isHeld
}

/** Why a worker hands an attempt back. */
export interface Return {
  readonly what: string
  /** It had no slot free for it. */
  readonly noSlot?: boolean
}

export interface Printed extends WorkersAttempt {
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
  /** Where it begins in its stream, if the worker counts. */
  readonly at?: number | undefined
}

/** False when the worker does not hold the attempt: what it prints is not shown. */
export function output(engine: EngineState, { worker, attemptId, ...printed }: Printed): boolean {
  const task = currentTask(engine.live, worker, parseAttemptId(attemptId))
  if (task === undefined) return false
  task.output ??= new OutputRing(engine.limits.outputBytes)
  task.output.add({ ...printed, attempt: task.attempt })
  return true
}

export function linkOf(engine: EngineState, worker: string): SessionLink {
  const link = engine.links.find(worker)
  if (link === undefined) throw absent(`no worker is registered as ${shortened(worker)}`)
  return link
}
