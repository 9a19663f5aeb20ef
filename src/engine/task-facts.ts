/** Converts the difference between a task's state and the facts that were passed to the journal into the next facts. */
import { sameFencing } from '../model/fencing.ts'
import type { Durability, Fact } from '../storage/journal/fact.ts'
import { unsuccessfulLabel } from './tasks/end-label.ts'
import { sealNote } from './tasks/envelopes.ts'
import type { Ending, RecordHook } from './tasks/live-parts.ts'
import { type LiveTask, type Operation, operationsOf } from './tasks/live-task.ts'
import { isCancelled, moveRecord } from './tasks/record-state.ts'

/** One call to the journal. The facts of one event are in one call: they are written together or not at all. */
export class RecordCall {
  readonly facts: Fact[] = []
  readonly tasks: LiveTask[] = []
  durability: Durability = 'process'
  accepted: LiveTask[] | undefined
  joined: Operation[] | undefined
  ended: LiveTask[] | undefined
  readonly hooks: readonly RecordHook[]

  constructor(hooks: readonly RecordHook[] = NO_HOOKS) {
    this.hooks = hooks
  }

  /** Adds the facts of a task that are not in the journal yet. `now` is the time of the current event. */
  add(task: LiveTask, now: number): void {
    this.tasks.push(task)
    addFacts(this, task, now)
  }
}

const NO_HOOKS: readonly RecordHook[] = []

/** True when the start is the only fact to write. May be false for such a task, if a quick check cannot decide it. */
export function hasOnlyStarted(task: LiveTask): boolean {
  const { journaled, fencing, first } = task
  if (journaled.started || task.startedAt === undefined || task.merged !== undefined || isCancelled(first)) return false
  const isLeaseWritten =
    journaled.fencing !== undefined && fencing !== undefined && sameFencing(journaled.fencing, fencing)
  const isSame =
    task.record !== 'unrecorded' && journaled.priority === task.priority && journaled.requeues === task.requeues
  return isLeaseWritten && isSame && journaled.cancel === task.isCancelRequested && task.ending === undefined
}

/** Adds the facts to the call and marks them as passed to the journal. */
function addFacts(call: RecordCall, task: LiveTask, now: number): void {
  const { journaled } = task
  if (task.record === 'unrecorded') addAccepted(call, task)
  if (task.merged !== undefined) for (const operation of task.merged) addJoined(call, task, operation)
  if (journaled.priority !== task.priority) {
    journaled.priority = task.priority
    call.facts.push({ kind: 'raised', task: task.id, priority: task.priority })
  }
  if (journaled.requeues !== task.requeues) addRequeued(call, task, now)
  addLease(call, task)
  if (task.isCancelRequested && !journaled.cancel) {
    journaled.cancel = true
    call.facts.push({ kind: 'cancel-asked', task: task.id, reason: 'cancelled', at: now })
  }
  if (isCancelled(task.first) || task.merged !== undefined) addLeft(call, task)
  if (task.ending !== undefined && !journaled.end && !task.isPersistingResult) addEnd(call, task, task.ending)
}

function addAccepted(call: RecordCall, task: LiveTask): void {
  const { first, accepted, unrecorded } = task
  if (unrecorded === undefined) return
  moveRecord(task, 'write')
  first.record = 'recorded'
  if (call.accepted === undefined) call.accepted = [task]
  else call.accepted.push(task)
  if (task.durability === 'power' && !accepted.deferAck) call.durability = 'power'
  call.facts.push({
    kind: 'accepted',
    task: task.id,
    operation: first.name,
    note: sealNote(first),
    labels: first.labels,
    instance: accepted.instance,
    invocation: unrecorded.invocation,
    priority: task.priority,
    origin: accepted.origin,
    spec: unrecorded.envelope,
    actionKey: accepted.actionKey,
    durability: task.durability,
    at: accepted.acceptedAt,
  })
  task.unrecorded = undefined
  first.labels = undefined
}

function addJoined(call: RecordCall, task: LiveTask, operation: Operation): void {
  if (operation.record !== 'unrecorded') return
  operation.record = 'recorded'
  if (call.joined === undefined) call.joined = [operation]
  else call.joined.push(operation)
  if (operation.durability === 'power') call.durability = 'power'
  const { name, labels, joinedAt } = operation
  const note = sealNote(operation)
  call.facts.push({ kind: 'joined', task: task.id, operation: name, note, labels, at: joinedAt })
  operation.labels = undefined
}

function addRequeued(call: RecordCall, task: LiveTask, now: number): void {
  const { journaled, state } = task
  journaled.requeues = task.requeues
  journaled.fencing = undefined
  journaled.started = false
  call.facts.push({
    kind: 'requeued',
    task: task.id,
    state: state === 'retrying' ? 'retrying' : 'queued',
    attempt: task.fencing === undefined ? task.attempt : task.attempt - 1,
    lostWorkers: task.lostWorkers,
    faults: task.faults,
    due: state === 'retrying' ? task.dueAt : undefined,
    reason: task.reason,
    at: now,
  })
}

function addLease(call: RecordCall, task: LiveTask): void {
  const { journaled, fencing, worker } = task
  if (fencing === undefined || worker === undefined) return
  if (journaled.fencing === undefined || !sameFencing(journaled.fencing, fencing)) {
    journaled.fencing = fencing
    journaled.started = false
    const at = task.assignedAt ?? task.queuedAt
    call.facts.push({ kind: 'leased', task: task.id, worker, fencing, attempt: task.attempt, at })
  }
  if (task.startedAt === undefined || journaled.started || task.ending !== undefined) return // the end has the start time
  journaled.started = true
  call.facts.push({ kind: 'started', task: task.id, fencing, at: task.startedAt })
}

function addLeft(call: RecordCall, task: LiveTask): void {
  for (const operation of operationsOf(task)) {
    if (!isCancelled(operation) || operation.isLeftRecorded) continue
    operation.isLeftRecorded = true
    call.facts.push({ kind: 'left', task: task.id, operation: operation.name, at: operation.leftAt })
  }
}

function addEnd(call: RecordCall, task: LiveTask, ending: Ending): void {
  task.journaled.end = true
  if (call.ended === undefined) call.ended = [task]
  else call.ended.push(task)
  if (task.durability === 'power') call.durability = 'power'
  const { state, fencing, envelope: result, what: reason, at } = ending
  const labels = ending.isUnsuccessful ? [unsuccessfulLabel(task.accepted)] : undefined
  call.facts.push({ kind: 'finished', task: task.id, state, fencing, result, labels, reason, at })
}
