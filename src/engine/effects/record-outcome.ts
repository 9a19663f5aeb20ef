/** What comes of a call to the journal: acknowledgements and results leave, or those who cannot have them are told why. */

import type { FaultError } from '../../base/fault.ts'
import type { RecordCall } from '../recording/task-facts.ts'
import type { EngineState } from '../state/engine-state.ts'
import { faultError, shortened } from '../tasks/faults.ts'
import { type LiveTask, type Operation, operationsOf } from '../tasks/live-task.ts'
import { canMoveRecord, isClosed, isDurable, moveRecord } from '../tasks/record-state.ts'
import { liveStatus } from '../tasks/status-of.ts'
import { answerReports, conclude } from './end-task.ts'

export function recordSucceeded(engine: EngineState, call: RecordCall, late: readonly string[]): void {
  if (call.accepted !== undefined) for (const task of call.accepted) acceptedIsDurable(engine, task)
  if (call.joined !== undefined) {
    for (const operation of call.joined) {
      operation.record = 'durable'
      // Calls may be answered in any order: without the task's own row this one is worth nothing.
      if (isDurable(operation.task)) acknowledge(engine, operation)
    }
  }
  if (call.ended !== undefined) for (const task of call.ended) endIsDurable(engine, task, late)
  for (const hook of call.hooks) hook.resolve()
  engine.writes.done()
  if (engine.repair.trouble !== undefined) engine.repair.recovered()
  if (engine.outward.length > 0 || engine.recorder.hasMarked) engine.dispatch()
}

function acceptedIsDurable(engine: EngineState, task: LiveTask): void {
  task.first.record = 'durable'
  task.meter.accepted()
  acknowledge(engine, task.first)
  if (task.merged !== undefined)
    for (const operation of task.merged) if (operation.record === 'durable') acknowledge(engine, operation)
  if (canMoveRecord(task, 'acknowledge')) moveRecord(task, 'acknowledge')
  if (task.record === 'concluded') conclude(engine, task)
  else if (task.held !== undefined) {
    engine.outward.push(task.held)
    task.held = undefined
  }
}

function acknowledge(engine: EngineState, operation: Operation): void {
  const { submitter } = operation
  operation.submitter = undefined
  submitter?.resolve(liveStatus(operation))
  engine.waiters.awaitWatcher(operation)
}

function endIsDurable(engine: EngineState, task: LiveTask, late: readonly string[]): void {
  if (isClosed(task)) return
  if (late.length > 0 && late.includes(task.id)) {
    giveWay(engine, task)
    return
  }
  moveRecord(task, 'acknowledgeEnd')
  if (task.record === 'concluded') conclude(engine, task)
}

/** The journal has another end, or another server has the task: what we know of it is told to nobody. */
function giveWay(engine: EngineState, task: LiveTask): void {
  engine.log.error({ task: task.id }, 'server closed before the end of a task was recorded')
  moveRecord(task, 'supersede')
  engine.live.remove(task)
  if (task.hasRoots) engine.roots?.release(task.id, 'inputs')
  answerReports(task, 'superseded')
  for (const operation of operationsOf(task)) engine.watches.lookUp(operation)
}

export function recordFailed(engine: EngineState, call: RecordCall, thrown: unknown): void {
  const error = faultError(thrown, 'the journal failed')
  const isInvalid = error.fault.kind === 'invalid'
  if (!isInvalid) engine.repair.failed(error)
  for (const task of call.accepted ?? []) refuse(engine, task, error)
  for (const operation of call.joined ?? [])
    if (operation.task.record !== 'refused') refuseJoining(engine, operation, error)
  const isAlone = call.tasks.length === 1 && call.joined === undefined
  for (const task of call.tasks) {
    if (isClosed(task)) continue
    if (isInvalid && isAlone) giveUpRecording(engine, task, error)
    else engine.repair.keep(task)
  }
  for (const hook of call.hooks) hook.reject(error)
  engine.writes.done()
  if (engine.repair.trouble === undefined && engine.repair.size > 0) engine.repair.recovered()
  engine.dispatch()
}

/** The journal has not got it, so it never was: nobody was told of it, and its worker is stopped. */
function refuse(engine: EngineState, task: LiveTask, error: FaultError): void {
  if (canMoveRecord(task, 'refuse')) moveRecord(task, 'refuse')
  task.held = undefined
  engine.meter.refused('journal')
  engine.live.remove(task)
  if (task.hasRoots) engine.roots?.release(task.id, 'inputs')
  answerReports(task, 'superseded')
  for (const operation of operationsOf(task)) rejectCaller(engine, operation, error)
  if (task.ending !== undefined) return
  engine.live.tasks.set(task.id, task) // until the scheduler has let go of it too
  engine.events.push({ kind: 'cancel', task: task.id, what: 'the journal did not take it' })
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
  engine.watches.fail(operation, error)
}

/** Its facts are at fault, and will be for ever: it ends without its result rather than never. */
function giveUpRecording(engine: EngineState, task: LiveTask, error: FaultError): void {
  engine.log.error({ error, task: shortened(task.id) }, 'journal rejected the facts of a task')
  const { ending } = task
  if (ending === undefined || ending.envelope.length === 0) return
  const what = `its end could not be recorded: ${error.message}`
  task.ending = {
    state: ending.state === 'cancelled' ? 'cancelled' : 'failed',
    why: 'unrecorded',
    what,
    at: ending.at,
    fencing: undefined,
    result: undefined,
    roots: [],
    envelope: new Uint8Array(),
    goesToCache: false,
  }
  engine.repair.keep(task)
}
