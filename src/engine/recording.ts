/**
 * What is true of a task and the journal has not been given yet, as facts. Whatever one event changed goes in one call:
 * it stands or falls together, and costs one promise.
 */
import { type Fencing, sameFencing } from '../model/fencing.ts'
import type { FinalState } from '../model/task-state.ts'
import type { Durability, Fact } from '../storage/journal/fact.ts'
import { forgetGiven, type LiveTask, type Operation, operationsOf } from './live-task.ts'
import { sealNote } from './note-envelope.ts'
import { type RecordedCall, recordFailed, recordSucceeded } from './record-outcome.ts'
import { isCancelled, isClosed, isUnsettled, moveRecord } from './record-state.ts'
import { type Shell, setTimer } from './shell.ts'

/**
 * Nobody waits for the fact that a task was started, and when it ends soon its end says it too: so it goes with the next
 * record that somebody waits for, and by itself only when there is none for so long. A lease does not wait: lost with a
 * crash, its task would be run again.
 */
const START_WAITS_MS = 50

class Call implements RecordedCall {
  readonly facts: Fact[] = []
  readonly tasks: LiveTask[]
  durability: Durability = 'process'
  accepted: LiveTask[] | undefined
  joined: Operation[] | undefined
  ended: LiveTask[] | undefined
  readonly hooks: Shell['hooks']

  constructor(tasks: LiveTask[], hooks: Shell['hooks']) {
    this.tasks = tasks
    this.hooks = hooks
  }
}

const NO_HOOKS: Shell['hooks'] = []

export function recordDirty(shell: Shell): void {
  const { dirty, hooks } = shell
  if (dirty.length === 0 && hooks.length === 0) return
  shell.dirty = []
  if (hooks.length > 0) shell.hooks = []
  const call = new Call([], hooks.length === 0 ? NO_HOOKS : hooks)
  for (const task of dirty) {
    task.isDirty = false
    if (isClosed(task) || isUnsettled(task)) continue
    if (!shell.isClosing && hasOnlyStarted(task)) recordSoon(shell, task)
    else {
      call.tasks.push(task)
      addFacts(shell, call, task)
    }
  }
  if (call.facts.length === 0) for (const hook of call.hooks) hook.resolve()
  else {
    void send(shell, call)
    void recordStarted(shell)
  }
}

/** Wherever it cannot be seen at a glance, it is not so. */
function hasOnlyStarted(task: LiveTask): boolean {
  const { given, fencing, first } = task
  if (given.started || task.startedAt === undefined || task.merged !== undefined || isCancelled(first)) return false
  const isLeaseGiven = given.fencing !== undefined && fencing !== undefined && sameFencing(given.fencing, fencing)
  const isSame = task.record !== 'unrecorded' && given.priority === task.priority && given.course === task.course
  return isLeaseGiven && isSame && given.cancel === task.isCancelRequested && task.ending === undefined
}

function recordSoon(shell: Shell, task: LiveTask): void {
  shell.started.push(task)
  if (!shell.timers.has('record'))
    setTimer(shell, 'record', { ms: START_WAITS_MS, fire: () => void recordStarted(shell) })
}

/** In a call of their own: what is wrong with one of them must not fail a record that somebody waits for. */
export function recordStarted(shell: Shell): Promise<void> | undefined {
  const { started } = shell
  if (started.length === 0) return undefined
  shell.started = []
  const call = new Call([], NO_HOOKS)
  for (const task of started) {
    if (isClosed(task) || isUnsettled(task) || task.given.end) continue
    call.tasks.push(task)
    addFacts(shell, call, task)
  }
  return call.facts.length > 0 ? send(shell, call) : undefined
}

function send(shell: Shell, call: Call): Promise<void> {
  shell.recording++
  return shell.journal.record(call.facts, call.durability).then(
    (late) => recordSucceeded(shell, call, late),
    (error: unknown) => recordFailed(shell, call, error),
  )
}

/** Resolves when all that is on record outlives a power cut. What is recorded for it says nothing. */
export async function secure({ journal }: Shell): Promise<void> {
  await journal.record([{ kind: 'offered', names: [] }], 'power')
}

/** The end of an attempt that is not the task's any more. */
export interface LateEnd {
  readonly task: string
  readonly fencing: Fencing
  readonly state: FinalState
  readonly reason: string
}

/**
 * Leaves a trace of it beside the task. The journal tells it from the true end by the lease that it has on record, so
 * that is said again in the same call: should an earlier call have failed, the late end must not be taken for true.
 */
export function recordLate(shell: Shell, late: LateEnd): void {
  const task = shell.tasks.get(late.task)
  if (task !== undefined && (task.ending !== undefined || task.record !== 'durable')) return
  const call = new Call(task === undefined ? [] : [task], NO_HOOKS)
  if (task !== undefined) {
    forgetGiven(task)
    addFacts(shell, call, task)
  }
  call.facts.push({ kind: 'finished', ...late, at: shell.clock.now() })
  void send(shell, call)
}

function addFacts(shell: Shell, call: Call, task: LiveTask): void {
  const { given } = task
  if (task.record === 'unrecorded') accept(call, task)
  if (task.merged !== undefined) for (const operation of task.merged) join(call, task, operation)
  if (given.priority !== task.priority) {
    given.priority = task.priority
    call.facts.push({ kind: 'raised', task: task.id, priority: task.priority })
  }
  if (given.course !== task.course) requeue(shell, call, task)
  addLease(call, task)
  if (task.isCancelRequested && !given.cancel) {
    given.cancel = true
    call.facts.push({ kind: 'cancel-asked', task: task.id, reason: 'cancelled', at: shell.now })
  }
  if (isCancelled(task.first) || task.merged !== undefined) addLeft(call, task)
  if (task.ending !== undefined && !given.end && !task.isPersistingResult) end(call, task)
}

function accept(call: Call, task: LiveTask): void {
  const { first } = task
  moveRecord(task, 'write')
  first.record = 'recorded'
  if (call.accepted === undefined) call.accepted = [task]
  else call.accepted.push(task)
  if (task.durability === 'power' && !task.isToldLate) call.durability = 'power'
  call.facts.push({
    kind: 'accepted',
    task: task.id,
    operation: first.name,
    note: sealNote(first),
    instance: task.instance,
    invocation: task.invocation,
    priority: task.priority,
    origin: task.origin,
    spec: task.envelope ?? task.spec,
    actionKey: task.actionKey,
    durability: task.durability,
    at: task.acceptedAt,
  })
  task.envelope = undefined
}

function join(call: Call, task: LiveTask, operation: Operation): void {
  if (operation.record !== 'unrecorded') return
  operation.record = 'recorded'
  if (call.joined === undefined) call.joined = [operation]
  else call.joined.push(operation)
  if (operation.durability === 'power') call.durability = 'power'
  const { name, joinedAt } = operation
  call.facts.push({ kind: 'joined', task: task.id, operation: name, note: sealNote(operation), at: joinedAt })
}

function requeue(shell: Shell, call: Call, task: LiveTask): void {
  const { given, state } = task
  given.course = task.course
  given.fencing = undefined
  given.started = false
  call.facts.push({
    kind: 'requeued',
    task: task.id,
    state: state === 'retrying' ? 'retrying' : 'queued',
    attempt: task.fencing === undefined ? task.attempt : task.attempt - 1,
    lostWorkers: task.lostWorkers,
    faults: task.faults,
    due: state === 'retrying' ? task.dueAt : undefined,
    reason: task.reason,
    at: shell.now,
  })
}

function addLease(call: Call, task: LiveTask): void {
  const { given, fencing, worker } = task
  if (fencing === undefined || worker === undefined) return
  if (given.fencing === undefined || !sameFencing(given.fencing, fencing)) {
    given.fencing = fencing
    given.started = false
    const at = task.assignedAt ?? task.queuedAt
    call.facts.push({ kind: 'leased', task: task.id, worker, fencing, attempt: task.attempt, at })
  }
  if (task.startedAt === undefined || given.started || task.ending !== undefined) return // an end says it too
  given.started = true
  call.facts.push({ kind: 'started', task: task.id, fencing, at: task.startedAt })
}

function addLeft(call: Call, task: LiveTask): void {
  for (const operation of operationsOf(task)) {
    if (!isCancelled(operation) || operation.isLeftRecorded) continue
    operation.isLeftRecorded = true
    call.facts.push({ kind: 'left', task: task.id, operation: operation.name, at: operation.leftAt })
  }
}

function end(call: Call, task: LiveTask): void {
  const { ending } = task
  if (ending === undefined) return
  task.given.end = true
  if (call.ended === undefined) call.ended = [task]
  else call.ended.push(task)
  if (task.durability === 'power') call.durability = 'power'
  const { state, fencing, envelope: result, what: reason, at } = ending
  call.facts.push({ kind: 'finished', task: task.id, state, fencing, result, reason, at })
}
