/** Restores the open tasks of the journal after a start. */
import type { Restore } from '../scheduler/model/events.ts'
import type { OpenTask } from '../storage/journal/journal.ts'
import { applyEvents } from './dispatch.ts'
import type { EngineState } from './engine-state.ts'
import { openNote, openSpec } from './tasks/envelopes.ts'
import { LiveTask, Operation, operationsOf } from './tasks/live-task.ts'
import type { TaskOptions } from './tasks/task-request.ts'
import { awaitWatcher } from './watches.ts'

/** Restores some open tasks and returns those whose record cannot be read. Facts and messages stay queued. */
export function restoreTasks(engine: EngineState, records: readonly OpenTask[]): OpenTask[] {
  const unreadable = records.filter((record) => !restore(engine, record))
  applyEvents(engine)
  return unreadable
}

/** Returns false when the record cannot be read. */
function restore(engine: EngineState, record: OpenTask): boolean {
  let opened: OpenedSpec
  try {
    opened = openSpec(record.spec)
  } catch {
    return false
  }
  const { options } = opened
  const task = liveTaskOf(engine, record, opened)
  engine.live.add(task)
  for (const operation of operationsOf(task)) awaitWatcher(engine, operation)
  if (task.accepted.hasRoots) engine.roots?.hold(task.id, 'inputs', options.roots ?? [])
  engine.events.push(restoreEvent(engine, record, { task, options }))
  return true
}

interface OpenedSpec {
  readonly options: TaskOptions
  readonly spec: Uint8Array
}

function liveTaskOf(engine: EngineState, record: OpenTask, { options, spec }: OpenedSpec): LiveTask {
  const [first, ...merged] = record.operations
  const { durability, priority, acceptedAt } = record
  const initial = first ?? { name: record.operation, note: undefined, joinedAt: acceptedAt, leftAt: undefined }
  const { note, ...operation } = newOperation(initial)
  const task = new LiveTask(
    {
      instance: record.instance,
      origin: record.origin,
      actionKey: record.actionKey,
      cacheable: options.cacheable ?? false,
      mayStartEarly: true, // the journal has the task
      deferAck: false,
      timeoutMs: options.timeoutMs,
      acceptedAt,
      meter: engine.meter.of(record.instance, options.properties ?? []),
      hasRoots: engine.roots !== undefined && (options.roots?.length ?? 0) > 0,
      // The scheduler counts a restored lease as its own first attempt.
      attemptsBefore: Math.max(0, record.attempt - (record.lease === undefined ? 0 : 1)),
    },
    { id: record.task, durability, unrecorded: undefined, priority, bytes: engine.live.copyBytes(note, spec) },
    operation,
  )
  restoreRecord(task.first, first)
  if (merged.length > 0) {
    task.merged = merged.map((one) => {
      const operation = new Operation(task, newOperation(one))
      if (operation.durability === 'power') task.durability = 'power'
      return restoreRecord(operation, one)
    })
  }
  return restoreState(task, record, engine.clock.now())
}

type RecordedOperation = OpenTask['operations'][number]

const newOperation = ({ name, note, joinedAt }: RecordedOperation) => ({
  name,
  joinedAt,
  submitter: undefined,
  ...openNote(note),
})

function restoreRecord(operation: Operation, record: RecordedOperation | undefined): Operation {
  operation.record = 'durable'
  if (record?.leftAt === undefined) return operation
  operation.attendance = 'over'
  operation.leftAt = record.leftAt
  operation.isLeftRecorded = true
  return operation
}

/** Sets the state of the task, and the same values as journaled. */
function restoreState(task: LiveTask, record: OpenTask, now: number): LiveTask {
  const { journaled } = task
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
  journaled.cancel = task.isCancelRequested
  if (lease === undefined) return task
  task.worker = lease.worker
  task.fencing = lease.fencing
  task.assignedAt = lease.at
  task.startedAt = lease.startedAt
  task.isDelivered = true
  journaled.fencing = lease.fencing
  journaled.started = lease.startedAt !== undefined
  return task
}

/** Earlier versions recorded no faults. There were at least as many as lost workers. */
const faultsOf = ({ faults, lostWorkers, state }: OpenTask): number =>
  Math.max(faults, lostWorkers.length, state === 'retrying' ? 1 : 0)

interface RestoredTask {
  readonly task: LiveTask
  readonly options: TaskOptions
}

function restoreEvent(engine: EngineState, record: OpenTask, { task, options }: RestoredTask): Restore {
  const { lease, due } = record
  const waiters = operationsOf(task).filter(({ attendance }) => attendance === 'waiting')
  const now = engine.clock.now()
  const { cacheable, actionKey } = task.accepted
  const { affinity, timeoutMs, estimateMs, maxRetries } = options
  return {
    kind: 'restore',
    task: task.id,
    instance: task.accepted.instance,
    invocation: record.invocation,
    priority: task.priority,
    properties: options.properties ?? [],
    demands: options.demands ?? {},
    waiters: waiters.map(({ name }) => name),
    ageMs: Math.max(0, now - record.acceptedAt),
    faults: task.faults,
    lostWorkers: record.lostWorkers,
    refusesPreemptible: options.refusesPreemptible ?? false,
    interactive: options.interactive ?? false,
    ...(cacheable && actionKey !== undefined && { actionKey }),
    ...(affinity && { affinity }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(estimateMs !== undefined && { estimateMs }),
    ...(maxRetries !== undefined && { maxRetries }),
    ...(lease && { lease: { ...lease, started: lease.startedAt !== undefined } }),
    ...((task.isCancelRequested || waiters.length === 0) && { stopping: true }),
    ...(due !== undefined && { retryInMs: Math.max(0, due - now) }),
  }
}

/** Another version of the server wrote the record: the task ends as failed, so that its clients get an answer. */
export function endUnreadable(engine: EngineState, { task, operations }: OpenTask): void {
  engine.log.error({ task, operations: operations.length }, 'cannot read the record of a task')
  const reason = 'the record of the task in the journal cannot be read'
  engine.journal
    .record([{ kind: 'finished', task, state: 'failed', reason, at: engine.clock.now() }], 'process')
    .catch((error: unknown) => engine.log.error({ error, task }, 'cannot end a task whose record is unreadable'))
}
