/** What the journal has of open tasks becomes the living picture again. */

import type { Restore } from '../scheduler/model/events.ts'
import type { OpenTask } from '../storage/journal/journal.ts'
import type { EngineState } from './state/engine-state.ts'
import { type LiveTask, newLiveTask, newOperation, type Operation, operationsOf } from './tasks/live-task.ts'
import { openNote } from './tasks/note-envelope.ts'
import { openSpec } from './tasks/spec-envelope.ts'
import type { TaskOrder } from './tasks/task-request.ts'

/** An open task, with its spec out of its envelope; undefined when that cannot be read. */
export interface Reopened {
  readonly record: OpenTask
  readonly opened: ReturnType<typeof openSpec> | undefined
}

export const reopen = (record: OpenTask): Reopened => ({ record, opened: orderIn(record.spec) })

function orderIn(envelope: Uint8Array): Reopened['opened'] {
  try {
    return openSpec(envelope)
  } catch {
    return undefined
  }
}

/** Names that tasks asked for before: somebody must have offered them, and earlier versions recorded no names. */
export function namesAskedFor(tasks: readonly Reopened[]): Set<string> {
  const names = new Set<string>()
  for (const { opened } of tasks) for (const { name } of opened?.order.properties ?? []) names.add(name)
  return names
}

export function restoreAll(engine: EngineState, tasks: readonly Reopened[]): void {
  for (const task of tasks) restore(engine, task)
  engine.dispatch()
}

function restore(engine: EngineState, { record, opened }: Reopened): void {
  if (opened === undefined) {
    giveUp(engine, record)
    return
  }
  const { order, spec } = opened
  const task = liveTaskOf(engine, record, { order, spec })
  engine.live.add(task)
  for (const operation of operationsOf(task)) engine.waiters.awaitWatcher(operation)
  if (task.hasRoots) engine.roots?.hold(task.id, 'inputs', order.roots ?? [])
  engine.events.push(restoreEvent(engine, record, { task, order }))
}

interface Opened {
  readonly order: TaskOrder
  readonly spec: Uint8Array
}

function liveTaskOf(engine: EngineState, record: OpenTask, { order, spec }: Opened): LiveTask {
  const [first, ...merged] = record.operations
  const isOut = record.lease !== undefined
  const task = newLiveTask(
    {
      id: record.task,
      instance: record.instance,
      invocation: record.invocation,
      origin: record.origin,
      actionKey: record.actionKey,
      cacheable: order.cacheable ?? false,
      mayStartEarly: true, // its row is there
      isToldLate: false,
      timeoutMs: order.timeoutMs,
      spec,
      acceptedAt: record.acceptedAt,
      meter: engine.meter.of(record.instance, order.properties ?? []),
      durability: record.durability,
      envelope: undefined,
      hasRoots: engine.roots !== undefined && (order.roots?.length ?? 0) > 0,
      priority: record.priority,
      // The scheduler counts a restored lease as its own first attempt.
      attemptsBefore: Math.max(0, record.attempt - (isOut ? 1 : 0)),
    },
    operationFrom(first ?? { name: record.operation, note: undefined, joinedAt: record.acceptedAt, leftAt: undefined }),
  )
  noteRecorded(task.first, first)
  if (merged.length > 0) {
    task.merged = merged.map((one) => {
      const operation = newOperation(task, operationFrom(one))
      if (operation.durability === 'power') task.durability = 'power'
      return noteRecorded(operation, one)
    })
  }
  return standAs(task, record, engine.clock.now())
}

const operationFrom = ({ name, note: sealed, joinedAt }: OpenTask['operations'][number]) => ({
  name,
  joinedAt,
  submitter: undefined,
  ...openNote(sealed),
})

function noteRecorded(operation: Operation, record: OpenTask['operations'][number] | undefined): Operation {
  operation.record = 'durable'
  if (record?.leftAt === undefined) return operation
  operation.attendance = 'over'
  operation.leftAt = record.leftAt
  operation.isLeftRecorded = true
  return operation
}

/** As its facts left it: what is true and what the journal was given are the same. */
function standAs(task: LiveTask, record: OpenTask, now: number): LiveTask {
  const { given } = task
  const { lease } = record
  task.record = 'durable'
  task.lostWorkers = record.lostWorkers
  task.faults = faultsOf(record)
  task.reason = record.requeueReason ?? ''
  const isDue = record.state === 'retrying' && (record.due ?? 0) <= now
  task.state = isDue ? 'queued' : record.state
  task.attempt = record.attempt
  task.dueAt = record.due
  task.isCancelRequested = record.cancel !== undefined
  given.cancel = task.isCancelRequested
  if (lease === undefined) return task
  task.worker = lease.worker
  task.fencing = lease.fencing
  task.assignedAt = lease.at
  task.startedAt = lease.startedAt
  task.isDelivered = true
  given.fencing = lease.fencing
  given.started = lease.startedAt !== undefined
  return task
}

/** Earlier versions did not record it; there were at least as many as workers that were lost. */
const faultsOf = ({ faults, lostWorkers, state }: OpenTask): number =>
  Math.max(faults, lostWorkers.length, state === 'retrying' ? 1 : 0)

interface Revived {
  readonly task: LiveTask
  readonly order: TaskOrder
}

function restoreEvent(engine: EngineState, record: OpenTask, { task, order }: Revived): Restore {
  const { lease, due } = record
  const waiters = operationsOf(task).filter(({ attendance }) => attendance === 'waiting')
  const now = engine.clock.now()
  const { affinity, timeoutMs, estimateMs, maxRetries } = order
  return {
    kind: 'restore',
    task: task.id,
    instance: task.instance,
    invocation: task.invocation,
    priority: task.priority,
    properties: order.properties ?? [],
    demands: order.demands ?? {},
    waiters: waiters.map(({ name }) => name),
    ageMs: Math.max(0, now - record.acceptedAt),
    faults: task.faults,
    lostWorkers: record.lostWorkers,
    refusesPreemptible: order.refusesPreemptible ?? false,
    interactive: order.interactive ?? false,
    ...(task.cacheable && task.actionKey !== undefined && { actionKey: task.actionKey }),
    ...(affinity && { affinity }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(estimateMs !== undefined && { estimateMs }),
    ...(maxRetries !== undefined && { maxRetries }),
    ...(lease && { lease: { ...lease, started: lease.startedAt !== undefined } }),
    ...((task.isCancelRequested || waiters.length === 0) && { stopping: true }),
    ...(due !== undefined && { retryInMs: Math.max(0, due - now) }),
  }
}

/** Another version wrote it: better an answer than none. */
function giveUp(engine: EngineState, { task, operations }: OpenTask): void {
  engine.log.error({ task, operations: operations.length }, 'cannot read the record of a task')
  const reason = 'what is on record of it cannot be read'
  engine.journal
    .record([{ kind: 'finished', task, state: 'failed', reason, at: engine.clock.now() }], 'process')
    .catch((error: unknown) => engine.log.error({ error, task }, 'cannot end a task whose record is unreadable'))
}
