/**
 * Handles failed journal writes, for example on a full disk. Tasks whose acceptance was not written are refused. The
 * facts of other tasks are kept and written again, with their state at that time, when the journal works. Until then no
 * caller is notified of their ends, and new tasks are refused.
 */
import type { FaultError } from '../base/fault.ts'
import type { EngineState } from './engine-state.ts'
import type { RecordCall } from './task-facts.ts'
import { faultError, shortened } from './tasks/faults.ts'
import { answerReports, clearJournaled, type LiveTask, type Operation, operationsOf } from './tasks/live-task.ts'
import { canMoveRecord, isClosed, isUnsettled, moveRecord } from './tasks/record-state.ts'
import { failWatches, lookUpWatches } from './watches.ts'

const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 15_000

export function recordFailed(engine: EngineState, call: RecordCall, thrown: unknown): void {
  const error = faultError(thrown, 'the journal failed')
  const isInvalid = error.fault.kind === 'invalid'
  if (!isInvalid) scheduleRetry(engine, error)
  for (const task of call.accepted ?? []) refuse(engine, task, error)
  for (const operation of call.joined ?? [])
    if (operation.task.record !== 'refused') refuseJoining(engine, operation, error)
  const isAlone = call.tasks.length === 1 && call.joined === undefined
  for (const task of call.tasks) {
    if (isClosed(task)) continue
    if (isInvalid && isAlone) giveUpRecording(engine, task, error)
    else keep(engine, task)
  }
  for (const hook of call.hooks) hook.reject(error)
  engine.writes.done()
  if (engine.journalTrouble === undefined && engine.unsettled.size > 0) journalRecovered(engine)
  engine.dispatch()
}

/** Failures before the next retry count as the same failure. */
function scheduleRetry(engine: EngineState, error: FaultError): void {
  const { journalTrouble: trouble, clock, log } = engine
  const now = clock.monotonic()
  if (engine.isClosing || (trouble !== undefined && now < trouble.until)) return
  if (trouble === undefined) log.error({ error }, 'journal write failed, retrying')
  const delayMs = Math.min(LONGEST_DELAY_MS, (trouble?.delayMs ?? FIRST_DELAY_MS / 2) * 2)
  engine.journalTrouble = { error, delayMs, until: now + delayMs }
  engine.timers.set('repair', delayMs, () => retryOne(engine))
}

/** Retries one task to test the journal. The result decides about the others. */
function retryOne(engine: EngineState): void {
  for (const task of engine.unsettled) if (retry(engine, task)) return
}

/** Writes all kept tasks again. */
export function journalRecovered(engine: EngineState): void {
  const { unsettled } = engine
  if (engine.journalTrouble !== undefined) engine.log.info({ tasks: unsettled.size }, 'journal writes recovered')
  engine.journalTrouble = undefined
  for (const task of [...unsettled]) retry(engine, task)
}

/** Writes one task in a separate call, because a task that the journal rejects must not fail another. */
function retry(engine: EngineState, task: LiveTask): boolean {
  engine.unsettled.delete(task)
  if (!isUnsettled(task)) return false // its end was acknowledged meanwhile
  moveRecord(task, 'retry')
  engine.live.markChanged(task)
  engine.dispatch()
  return true
}

/** Keeps a task of a failed write, to write all of its facts again. */
function keep(engine: EngineState, task: LiveTask): void {
  if (isClosed(task)) return
  moveRecord(task, 'fail')
  clearJournaled(task)
  for (const operation of operationsOf(task)) operation.isLeftRecorded = false
  engine.unsettled.add(task)
}

/** The acceptance was not written: the submitter gets the error, and the worker is ordered to stop. */
function refuse(engine: EngineState, task: LiveTask, error: FaultError): void {
  if (canMoveRecord(task, 'refuse')) moveRecord(task, 'refuse')
  task.heldLease = undefined
  engine.meter.refused('journal')
  engine.live.remove(task)
  if (task.accepted.hasRoots) engine.roots?.release(task.id, 'inputs')
  answerReports(task, 'superseded')
  for (const operation of operationsOf(task)) rejectCaller(engine, operation, error)
  if (task.ending !== undefined) return
  engine.live.tasks.set(task.id, task) // until the scheduler has ended it
  engine.events.push({ kind: 'cancel', task: task.id, what: 'the journal did not store it' })
}

function refuseJoining(engine: EngineState, operation: Operation, error: FaultError): void {
  const { task, name } = operation
  engine.meter.refused('journal')
  engine.live.operations.delete(name)
  task.merged = task.merged?.filter((one) => one !== operation)
  rejectCaller(engine, operation, error)
  engine.events.push({ kind: 'leave', task: task.id, waiter: name })
}

function rejectCaller(engine: EngineState, operation: Operation, error: FaultError): void {
  operation.submitter?.reject(error)
  operation.submitter = undefined
  failWatches(engine, operation, error)
}

/** The journal rejects the facts, and would reject them again: the task ends without its result. */
function giveUpRecording(engine: EngineState, task: LiveTask, error: FaultError): void {
  engine.log.error({ error, task: shortened(task.id) }, 'journal rejected the facts of a task')
  const { ending } = task
  if (ending === undefined || ending.envelope.length === 0) return
  task.ending = {
    state: ending.state === 'cancelled' ? 'cancelled' : 'failed',
    why: 'unrecorded',
    what: `its end could not be recorded: ${error.message}`,
    at: ending.at,
    fencing: undefined,
    result: undefined,
    roots: [],
    envelope: new Uint8Array(),
    isUnsuccessful: true,
    isCacheable: false,
  }
  keep(engine, task)
}

/**
 * The journal has another end, or another server has the task. No caller is notified of the end that this engine has.
 */
export function superseded(engine: EngineState, task: LiveTask): void {
  if (isClosed(task)) return
  engine.log.error({ task: task.id }, 'server closed before the end of a task was recorded')
  moveRecord(task, 'supersede')
  engine.live.remove(task)
  if (task.accepted.hasRoots) engine.roots?.release(task.id, 'inputs')
  answerReports(task, 'superseded')
  for (const operation of operationsOf(task)) lookUpWatches(engine, operation)
}
