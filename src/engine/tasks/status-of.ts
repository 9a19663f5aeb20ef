import type { TaskRecord } from '../../storage/journal/journal.ts'
import { openEnd } from './end-envelope.ts'
import type { Operation } from './live-task.ts'
import { openNote } from './note-envelope.ts'
import { openSpec } from './spec-envelope.ts'
import type { OperationEnd, OperationStatus } from './status.ts'

/** Returns the status of a task that is in memory. The status has an end only once that end is durable. */
export function liveStatus(operation: Operation): OperationStatus {
  const { task } = operation
  const { ending } = task
  const isConcluded = task.record === 'concluded'
  const { attendance } = operation
  const isLeft = attendance === 'over' || (isConcluded && attendance === 'cancelled')
  const end: OperationEnd | undefined = isLeft
    ? cancelled(operation.leftAt)
    : ending !== undefined && isConcluded
      ? { state: ending.state, why: ending.why, what: ending.what, at: ending.at, cached: false, result: ending.result }
      : undefined
  return {
    operation: operation.name,
    task: task.id,
    instance: task.instance,
    origin: task.origin,
    state: end?.state ?? task.state,
    attempt: task.attempt,
    starts: startsOf(task, ending?.result),
    worker: task.worker,
    acceptedAt: task.acceptedAt,
    joinedAt: operation.joinedAt,
    queuedAt: task.queuedAt,
    assignedAt: task.assignedAt,
    startedAt: task.startedAt,
    end,
    spec: task.spec,
    note: operation.note,
  }
}

interface Attempts {
  readonly attempt: number
  readonly unstarted: number
  /** The worker that holds the newest attempt, or held it last. */
  readonly worker: string | undefined
  readonly startedAt: number | undefined
}

/** A worker that never said so has started it all the same if there is a result. */
function startsOf({ attempt, unstarted, worker, startedAt }: Attempts, result: Uint8Array | undefined): number {
  const isNewestStarted = worker === undefined || startedAt !== undefined || result !== undefined
  return Math.max(0, attempt - unstarted - (isNewestStarted ? 0 : 1))
}

const cancelled = (at: number): OperationEnd => ({
  state: 'cancelled',
  why: 'cancelled',
  what: 'cancelled by its caller',
  at,
  cached: false,
  result: undefined,
})

/** Returns the status of a task that is only in the journal. */
export function recordedStatus(name: string, record: TaskRecord): OperationStatus {
  const operation = record.operations.find((one) => one.name === name)
  const sealed = openEnd(record.result)
  const { end: ended, lease } = record
  const startedAt = sealed.startedAt ?? lease?.startedAt
  const leftAt = operation?.leftAt
  // It left before there was an answer: to its caller it is cancelled, whatever came of the task for others.
  const isCancelled = leftAt !== undefined && (ended === undefined || leftAt <= ended.at)
  const end: OperationEnd | undefined = isCancelled
    ? cancelled(leftAt)
    : ended && { ...ended, what: ended.reason, why: sealed.why, cached: sealed.cached, result: sealed.result }
  return {
    operation: name,
    task: record.task,
    instance: record.instance,
    origin: record.origin,
    state: end?.state ?? record.state,
    attempt: record.attempt,
    starts: startsOf(
      { attempt: record.attempt, unstarted: sealed.unstarted, worker: lease?.worker, startedAt },
      sealed.result,
    ),
    worker: lease?.worker,
    acceptedAt: record.acceptedAt,
    joinedAt: operation?.joinedAt ?? record.acceptedAt,
    queuedAt: sealed.queuedAt || record.acceptedAt,
    assignedAt: lease?.at,
    startedAt,
    end,
    spec: openSpec(record.spec).spec,
    note: openNote(operation?.note).note,
  }
}
