import type { TaskRecord } from '../../storage/journal/journal.ts'
import { openEnd, openNote, openSpec } from './envelopes.ts'
import { cancelledEnd, startsOf } from './live-task.ts'
import type { OperationEnd, OperationStatus } from './status.ts'

/** Returns the status of a task that is only in the journal. */
export function recordedStatus(name: string, record: TaskRecord): OperationStatus {
  const operation = record.operations.find((one) => one.name === name)
  const sealed = openEnd(record.result)
  const { end: ended, lease, attempt } = record
  const startedAt = sealed.startedAt ?? lease?.startedAt
  const leftAt = operation?.leftAt
  // The client cancelled before the task ended: its operation is cancelled, whatever the result for others.
  const isCancelled = leftAt !== undefined && (ended === undefined || leftAt <= ended.at)
  const end: OperationEnd | undefined = isCancelled
    ? cancelledEnd(leftAt)
    : ended && { ...ended, what: ended.reason, why: sealed.why, cached: sealed.cached, result: sealed.result }
  return {
    operation: name,
    task: record.task,
    instance: record.instance,
    origin: record.origin,
    state: end?.state ?? record.state,
    attempt,
    starts: startsOf({ attempt, unstarted: sealed.unstarted, worker: lease?.worker, startedAt }, sealed.result),
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
