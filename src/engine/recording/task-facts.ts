/** Turns the difference between a task's state and the facts that the journal was given into the next facts. */
import { sameFencing } from '../../model/fencing.ts'
import type { Durability, Fact } from '../../storage/journal/fact.ts'
import { type LiveTask, type Operation, operationsOf, type RecordHook } from '../tasks/live-task.ts'
import { sealNote } from '../tasks/note-envelope.ts'
import { isCancelled, moveRecord } from '../tasks/record-state.ts'

/** One call to the journal. The facts of one event go in one call: they are written together or not at all. */
export class RecordCall {
  readonly facts: Fact[] = []
  readonly tasks: LiveTask[]
  durability: Durability = 'process'
  accepted: LiveTask[] | undefined
  joined: Operation[] | undefined
  ended: LiveTask[] | undefined
  readonly hooks: readonly RecordHook[]

  constructor(tasks: LiveTask[], hooks: readonly RecordHook[]) {
    this.tasks = tasks
    this.hooks = hooks
  }
}

/** True when the start is the only fact to write. False where a quick check cannot tell. */
export function hasOnlyStarted(task: LiveTask): boolean {
  const { given, fencing, first } = task
  if (given.started || task.startedAt === undefined || task.merged !== undefined || isCancelled(first)) return false
  const isLeaseGiven = given.fencing !== undefined && fencing !== undefined && sameFencing(given.fencing, fencing)
  const isSame = task.record !== 'unrecorded' && given.priority === task.priority && given.course === task.course
  return isLeaseGiven && isSame && given.cancel === task.isCancelRequested && task.ending === undefined
}

/** Adds the facts to the call and notes them as given. `now` is the time of the event under way. */
export function addFacts(call: RecordCall, task: LiveTask, now: number): void {
  const { given } = task
  if (task.record === 'unrecorded') accept(call, task)
  if (task.merged !== undefined) for (const operation of task.merged) join(call, task, operation)
  if (given.priority !== task.priority) {
    given.priority = task.priority
    call.facts.push({ kind: 'raised', task: task.id, priority: task.priority })
  }
  if (given.course !== task.course) requeue(call, task, now)
  addLease(call, task)
  if (task.isCancelRequested && !given.cancel) {
    given.cancel = true
    call.facts.push({ kind: 'cancel-asked', task: task.id, reason: 'cancelled', at: now })
  }
  if (isCancelled(task.first) || task.merged !== undefined) addLeft(call, task)
  if (task.ending !== undefined && !given.end && !task.isPersistingResult) end(call, task)
}

function accept(call: RecordCall, task: LiveTask): void {
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

function join(call: RecordCall, task: LiveTask, operation: Operation): void {
  if (operation.record !== 'unrecorded') return
  operation.record = 'recorded'
  if (call.joined === undefined) call.joined = [operation]
  else call.joined.push(operation)
  if (operation.durability === 'power') call.durability = 'power'
  const { name, joinedAt } = operation
  call.facts.push({ kind: 'joined', task: task.id, operation: name, note: sealNote(operation), at: joinedAt })
}

function requeue(call: RecordCall, task: LiveTask, now: number): void {
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
    at: now,
  })
}

function addLease(call: RecordCall, task: LiveTask): void {
  const { given, fencing, worker } = task
  if (fencing === undefined || worker === undefined) return
  if (given.fencing === undefined || !sameFencing(given.fencing, fencing)) {
    given.fencing = fencing
    given.started = false
    const at = task.assignedAt ?? task.queuedAt
    call.facts.push({ kind: 'leased', task: task.id, worker, fencing, attempt: task.attempt, at })
  }
  if (task.startedAt === undefined || given.started || task.ending !== undefined) return // the end holds the start time too
  given.started = true
  call.facts.push({ kind: 'started', task: task.id, fencing, at: task.startedAt })
}

function addLeft(call: RecordCall, task: LiveTask): void {
  for (const operation of operationsOf(task)) {
    if (!isCancelled(operation) || operation.isLeftRecorded) continue
    operation.isLeftRecorded = true
    call.facts.push({ kind: 'left', task: task.id, operation: operation.name, at: operation.leftAt })
  }
}

function end(call: RecordCall, task: LiveTask): void {
  const { ending } = task
  if (ending === undefined) return
  task.given.end = true
  if (call.ended === undefined) call.ended = [task]
  else call.ended.push(task)
  if (task.durability === 'power') call.durability = 'power'
  const { state, fencing, envelope: result, what: reason, at } = ending
  call.facts.push({ kind: 'finished', task: task.id, state, fencing, result, reason, at })
}
