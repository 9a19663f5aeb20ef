/** What comes of a call to the journal: acknowledgements and results leave, or those who cannot have them are told why. */
import type { FaultError } from '../base/fault.ts'
import { answerReports, conclude, letGo } from './ending.ts'
import { faultError, shortened } from './faults.ts'
import { type LiveTask, type Operation, operationsOf } from './live-task.ts'
import { awaitWatcher } from './no-waiter.ts'
import { canMoveRecord, isClosed, isDurable, moveRecord } from './record-state.ts'
import { noteTrouble, noteWell, unsettle } from './repairing.ts'
import type { RecordHook, Shell } from './shell.ts'
import { liveStatus } from './status.ts'
import { failWatches, lookUpWatches } from './watching.ts'

/** What was in a call. */
export interface RecordedCall {
  readonly tasks: readonly LiveTask[]
  readonly accepted: readonly LiveTask[] | undefined
  readonly joined: readonly Operation[] | undefined
  readonly ended: readonly LiveTask[] | undefined
  readonly hooks: readonly RecordHook[]
}

export function recordSucceeded(shell: Shell, call: RecordedCall, late: readonly string[]): void {
  if (call.accepted !== undefined) for (const task of call.accepted) acceptedIsDurable(shell, task)
  if (call.joined !== undefined) {
    for (const operation of call.joined) {
      operation.record = 'durable'
      // Calls may be answered in any order: without the task's own row this one is worth nothing.
      if (isDurable(operation.task)) acknowledge(shell, operation)
    }
  }
  if (call.ended !== undefined) for (const task of call.ended) endIsDurable(shell, task, late)
  for (const hook of call.hooks) hook.resolve()
  settled(shell)
  if (shell.trouble !== undefined) noteWell(shell)
  if (shell.outward.length > 0 || shell.dirty.length > 0) shell.dispatch()
}

function acceptedIsDurable(shell: Shell, task: LiveTask): void {
  task.first.record = 'durable'
  task.meter.accepted()
  acknowledge(shell, task.first)
  if (task.merged !== undefined)
    for (const operation of task.merged) if (operation.record === 'durable') acknowledge(shell, operation)
  if (canMoveRecord(task, 'acknowledge')) moveRecord(task, 'acknowledge')
  if (task.record === 'concluded') conclude(shell, task)
  else if (task.held !== undefined) {
    shell.outward.push(task.held)
    task.held = undefined
  }
}

function acknowledge(shell: Shell, operation: Operation): void {
  const { caller } = operation
  operation.caller = undefined
  caller?.resolve(liveStatus(operation))
  awaitWatcher(shell, operation)
}

function endIsDurable(shell: Shell, task: LiveTask, late: readonly string[]): void {
  if (isClosed(task)) return
  if (late.length > 0 && late.includes(task.id)) {
    giveWay(shell, task)
    return
  }
  moveRecord(task, 'acknowledgeEnd')
  if (task.record === 'concluded') conclude(shell, task)
}

/** The journal has another end, or another server has the task: what we know of it is told to nobody. */
function giveWay(shell: Shell, task: LiveTask): void {
  shell.log.error({ task: task.id }, 'an end came too late for the journal')
  moveRecord(task, 'supersede')
  letGo(shell, task)
  if (task.hasRoots) shell.roots?.release(task.id, 'inputs')
  answerReports(task, 'superseded')
  for (const operation of operationsOf(task)) lookUpWatches(shell, operation)
}

export function recordFailed(shell: Shell, call: RecordedCall, thrown: unknown): void {
  const error = faultError(thrown, 'the journal failed')
  const isInvalid = error.fault.kind === 'invalid'
  if (!isInvalid) noteTrouble(shell, error)
  for (const task of call.accepted ?? []) refuse(shell, task, error)
  for (const operation of call.joined ?? [])
    if (operation.task.record !== 'refused') refuseJoining(shell, operation, error)
  const isAlone = call.tasks.length === 1 && call.joined === undefined
  for (const task of call.tasks) {
    if (isClosed(task)) continue
    if (isInvalid && isAlone) giveUpRecording(shell, task, error)
    else unsettle(shell, task)
  }
  for (const hook of call.hooks) hook.reject(error)
  settled(shell)
  if (shell.trouble === undefined && shell.unsettled.size > 0) noteWell(shell)
  shell.dispatch()
}

/** The journal has not got it, so it never was: nobody was told of it, and its worker is stopped. */
function refuse(shell: Shell, task: LiveTask, error: FaultError): void {
  if (canMoveRecord(task, 'refuse')) moveRecord(task, 'refuse')
  task.held = undefined
  shell.meter.refused('journal')
  letGo(shell, task)
  if (task.hasRoots) shell.roots?.release(task.id, 'inputs')
  answerReports(task, 'superseded')
  for (const operation of operationsOf(task)) rejectCaller(shell, operation, error)
  if (task.ending !== undefined) return
  shell.tasks.set(task.id, task) // until the scheduler has let go of it too
  shell.events.push({ kind: 'cancel', task: task.id, what: 'the journal did not take it' })
}

function refuseJoining(shell: Shell, operation: Operation, error: FaultError): void {
  const { task, name } = operation
  shell.meter.refused('journal')
  shell.operations.delete(name)
  task.merged = task.merged?.filter((one) => one !== operation)
  rejectCaller(shell, operation, error)
  shell.events.push({ kind: 'leave', task: task.id, waiter: name })
}

function rejectCaller(shell: Shell, operation: Operation, error: FaultError): void {
  operation.caller?.reject(error)
  operation.caller = undefined
  failWatches(shell, operation, error)
}

/** Its facts are at fault, and will be for ever: it ends without its result rather than never. */
function giveUpRecording(shell: Shell, task: LiveTask, error: FaultError): void {
  shell.log.error({ error, task: shortened(task.id) }, 'facts of a task cannot be recorded')
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
  unsettle(shell, task)
}

/** A call is over, one way or the other. */
export function settled(shell: Shell): void {
  shell.recording--
  if (shell.recording > 0 || shell.quiet.length === 0) return
  const { quiet } = shell
  shell.quiet = []
  for (const resolve of quiet) resolve()
}
