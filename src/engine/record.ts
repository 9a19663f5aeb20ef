/**
 * Writes the facts of changed tasks to the journal, and acknowledges to callers and workers what has become durable.
 * All changes of one event are one journal call, which costs one promise.
 */
import type { EngineState } from './engine-state.ts'
import { journalRecovered, recordFailed, superseded } from './record-failure.ts'
import { hasOnlyStarted, RecordCall } from './task-facts.ts'
import type { Ending } from './tasks/live-parts.ts'
import { answerReports, type LiveTask, type Operation } from './tasks/live-task.ts'
import { canMoveRecord, isClosed, isDurable, isUnsettled, moveRecord } from './tasks/record-state.ts'
import { awaitWatcher, liveStatus, markDue } from './watches.ts'

/**
 * No caller waits for the record of a start, and a task that ends soon has the start time in its end. So the start is
 * written with the next record that a caller waits for, or after this time. A lease does not wait: if it were lost in a
 * crash, its task would run again.
 */
const START_WAITS_MS = 50

/** Writes the facts of all tasks that the current event has changed. */
export function flushFacts(engine: EngineState): void {
  const { live, recordHooks: hooks } = engine
  if (live.changed.length === 0 && hooks.length === 0) return
  const tasks = live.changed
  live.changed = []
  if (hooks.length > 0) engine.recordHooks = []
  const call = new RecordCall(hooks.length === 0 ? undefined : hooks)
  for (const task of tasks) {
    task.isChanged = false
    if (isClosed(task) || isUnsettled(task)) continue
    if (!engine.isClosing && hasOnlyStarted(task)) deferStart(engine, task)
    else call.add(task, engine.now)
  }
  if (call.facts.length === 0) {
    for (const hook of call.hooks) hook.resolve()
    return
  }
  void sendCall(engine, call)
  void flushStarted(engine)
}

function deferStart(engine: EngineState, task: LiveTask): void {
  engine.startedTasks.push(task)
  if (!engine.timers.has('record')) engine.timers.set('record', START_WAITS_MS, () => void flushStarted(engine))
}

/**
 * Writes the deferred starts in a separate call, because a rejected start must not fail a record that a caller awaits.
 */
export function flushStarted(engine: EngineState): Promise<void> | undefined {
  const { startedTasks: tasks } = engine
  if (tasks.length === 0) return undefined
  engine.startedTasks = []
  const call = new RecordCall()
  for (const task of tasks) if (!isClosed(task) && !isUnsettled(task) && !task.journaled.end) call.add(task, engine.now)
  return call.facts.length > 0 ? sendCall(engine, call) : undefined
}

export function sendCall(engine: EngineState, call: RecordCall): Promise<void> {
  engine.writes.begin()
  return engine.journal.record(call.facts, call.durability).then(
    (late) => recordSucceeded(engine, call, late),
    (error: unknown) => recordFailed(engine, call, error),
  )
}

/** `late` are the tasks for which the journal already had another end. */
function recordSucceeded(engine: EngineState, call: RecordCall, late: readonly string[]): void {
  if (call.accepted !== undefined) for (const task of call.accepted) acceptedIsDurable(engine, task)
  if (call.joined !== undefined) for (const operation of call.joined) joinedIsDurable(engine, operation)
  if (call.ended !== undefined)
    for (const task of call.ended) {
      if (late.length > 0 && late.includes(task.id)) superseded(engine, task)
      else endIsDurable(engine, task)
    }
  for (const hook of call.hooks) hook.resolve()
  engine.writes.done()
  if (engine.journalTrouble !== undefined) journalRecovered(engine)
  if (engine.outward.length > 0 || engine.live.changed.length > 0) engine.dispatch()
}

function acceptedIsDurable(engine: EngineState, task: LiveTask): void {
  task.first.record = 'durable'
  task.accepted.meter.accepted()
  acknowledge(engine, task.first)
  if (task.merged !== undefined)
    for (const operation of task.merged) if (operation.record === 'durable') acknowledge(engine, operation)
  if (canMoveRecord(task, 'acknowledge')) moveRecord(task, 'acknowledge')
  if (task.record === 'concluded') conclude(engine, task)
  else if (task.heldLease !== undefined) {
    engine.outward.push(task.heldLease)
    task.heldLease = undefined
  }
}

function joinedIsDurable(engine: EngineState, operation: Operation): void {
  operation.record = 'durable'
  // Calls may complete in any order: the operation is acknowledged when its task is durable too.
  if (isDurable(operation.task)) acknowledge(engine, operation)
}

function acknowledge(engine: EngineState, operation: Operation): void {
  const { submitter } = operation
  operation.submitter = undefined
  submitter?.resolve(liveStatus(operation))
  awaitWatcher(engine, operation)
}

function endIsDurable(engine: EngineState, task: LiveTask): void {
  if (isClosed(task)) return
  moveRecord(task, 'acknowledgeEnd')
  if (task.record === 'concluded') conclude(engine, task)
}

/** The task and its end are durable: responds to its worker and notifies all watchers. */
function conclude(engine: EngineState, task: LiveTask): void {
  const { ending, startedAt = task.assignedAt } = task
  if (ending === undefined) return
  if (engine.roots !== undefined) moveRoots(engine, task, ending)
  engine.live.retire(task)
  task.accepted.meter.ended(ending.state, startedAt === undefined ? undefined : ending.at - startedAt)
  answerReports(task, 'applied')
  task.output?.end()
  if (task.inputs !== undefined) for (const { resolve } of task.inputs.waiting) resolve()
  task.inputs = undefined
  markDue(engine, task)
}

/** Unpins the inputs of the task and pins its outputs. */
function moveRoots(engine: EngineState, task: LiveTask, { roots, at }: Ending): void {
  if (roots.length > 0) {
    engine.roots?.hold(task.id, 'outputs', roots)
    engine.keptOutputs.set(task.id, at)
  }
  if (task.accepted.hasRoots) engine.roots?.release(task.id, 'inputs')
}
