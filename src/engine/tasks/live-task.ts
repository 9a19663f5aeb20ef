import type { Fencing } from '../../model/fencing.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { TaskState } from '../../model/task-state.ts'
import type { Durability } from '../../storage/journal/fact.ts'
import type { TaskMeter } from './grid-meter.ts'
import type { Ending, InputQueue, PendingSubmit, Report } from './live-parts.ts'
import type { OutputRing } from './output-ring.ts'
import type { Attendance, RecordState } from './record-state.ts'
import type { OperationEnd, Watcher } from './status.ts'

/** The fields of a task that are fixed when it is accepted. */
export interface AcceptedTask {
  readonly instance: InstanceName
  readonly origin: string
  readonly actionKey: string | undefined
  readonly cacheable: boolean
  readonly mayStartEarly: boolean
  readonly deferAck: boolean
  readonly timeoutMs: number | undefined
  readonly acceptedAt: number
  readonly meter: TaskMeter
  /** The blob store was asked to pin its inputs. */
  readonly hasRoots: boolean
  /** Attempts before the last restart of the server, which the scheduler does not count. */
  readonly attemptsBefore: number
}

/** Data that only the acceptance record needs. It is discarded when the record was passed to the journal. */
export interface Unrecorded {
  readonly invocation: string
  /** The sealed spec. */
  readonly envelope: Uint8Array
}

/** The initial fields of an accepted task; most of them change later. */
export interface NewTask extends Pick<LiveTask, 'id' | 'durability' | 'unrecorded' | 'priority'> {
  readonly bytes: TaskBytes
}

/**
 * The note of the first operation and the spec, in one buffer: each typed array costs 200 bytes in addition to its
 * contents.
 */
export interface TaskBytes {
  readonly noteAndSpec: Uint8Array
  /** −1 without a note. */
  readonly noteLength: number
}

/**
 * A task in memory: it is open, or its end is not durable yet. The scheduler has its own record under the same id.
 * `journaled` holds the part of the state that was passed to the journal; the difference from the current state is what
 * must be written next. So after a failed write, the engine clears `journaled`, and everything is written again.
 */
export class LiveTask {
  readonly id: string
  readonly accepted: AcceptedTask
  readonly first: Operation
  merged: Operation[] | undefined = undefined
  /** The strongest durability that one of its operations requested. */
  durability: Durability
  unrecorded: Unrecorded | undefined
  priority: number
  state: TaskState = 'pending'
  attempt: number
  /** Attempts that failed or were returned before their start, as far as this process has counted them. */
  unstarted = 0
  worker: string | undefined = undefined
  fencing: Fencing | undefined = undefined
  /** The id of the current attempt, if this process has sent the lease to the worker. */
  attemptId: string | undefined = undefined
  /** A lease that waits until the journal has the task. */
  heldLease: GrantedLease | undefined = undefined
  /** The lease was sent to the worker. */
  isDelivered = false
  queuedAt: number
  assignedAt: number | undefined = undefined
  startedAt: number | undefined = undefined
  dueAt: number | undefined = undefined
  lostWorkers: readonly string[] = NO_WORKERS
  /** Grid faults that the task has survived. */
  faults = 0
  /** Why its last attempt failed. */
  reason = ''
  /** How often the task was queued again. */
  requeues = 0
  isCancelRequested = false
  ending: Ending | undefined = undefined
  /** The result is being written to the action cache, or its blobs to disk: the end is recorded after that. */
  isPersistingResult = false
  report: Report | undefined = undefined
  /** Reports of the same end that arrived while it was being recorded. */
  repeated: Report[] | undefined = undefined
  output: OutputRing | undefined = undefined
  inputs: InputQueue | undefined = undefined
  record: RecordState = 'unrecorded'
  /** The registry lists the task as changed: its facts are written at the end of the current event. */
  isChanged = false
  readonly journaled: Journaled
  readonly #noteAndSpec: Uint8Array
  readonly #noteLength: number

  constructor(accepted: AcceptedTask, made: NewTask, operation: NewOperation) {
    const { id, durability, unrecorded, priority, bytes } = made
    this.id = id
    this.accepted = accepted
    this.durability = durability
    this.unrecorded = unrecorded
    this.#noteAndSpec = bytes.noteAndSpec
    this.#noteLength = bytes.noteLength
    this.priority = priority
    this.attempt = accepted.attemptsBefore
    this.queuedAt = accepted.acceptedAt
    this.journaled = { priority, requeues: 0, fencing: undefined, started: false, cancel: false, end: false }
    this.first = new Operation(this, operation)
  }

  get spec(): Uint8Array {
    return this.#noteAndSpec.subarray(Math.max(0, this.#noteLength))
  }

  /** The note of the first operation. */
  get note(): Uint8Array | undefined {
    return this.#noteLength < 0 ? undefined : this.#noteAndSpec.subarray(0, this.#noteLength)
  }
}

const NO_WORKERS: readonly string[] = []

/** The facts that were passed to the journal, in addition to the acceptance. */
export interface Journaled {
  priority: number
  requeues: number
  fencing: Fencing | undefined
  started: boolean
  cancel: boolean
  end: boolean
}

/** Makes the engine write all facts except the acceptance again. */
export function clearJournaled({ journaled }: LiveTask): void {
  journaled.priority = Number.NaN
  journaled.requeues = -1
  journaled.fencing = undefined
  journaled.started = false
  journaled.cancel = false
  journaled.end = false
}

/** The note of a task's first operation is part of the task. */
export type NewOperation = Pick<Operation, 'name' | 'needsWaiter' | 'durability' | 'joinedAt' | 'submitter'> & {
  readonly note?: Operation['note']
  readonly labels?: Operation['labels']
}

/** The reference of one client to a task. Merged operations share a task; each has its own name. */
export class Operation {
  readonly name: string
  readonly task: LiveTask
  /** The note of a merged operation. */
  readonly ownNote: Uint8Array | undefined
  /** Undefined when the journal has the labels. */
  labels: readonly string[] | undefined
  readonly durability: Durability
  readonly joinedAt: number
  needsWaiter: boolean
  /** Whether the operation was passed to the journal, and acknowledged by it. */
  record: 'unrecorded' | 'recorded' | 'durable' = 'unrecorded'
  attendance: Attendance = 'waiting'
  leftAt = 0
  isLeftRecorded = false
  watches: Watch[] | undefined = undefined
  /** Its position in the list of operations without a watcher, and the time since when it is in the list. */
  unwatchedAt: number | undefined = undefined
  unwatchedBefore: Operation | undefined = undefined
  unwatchedAfter: Operation | undefined = undefined
  /** The promise of `submit`, until it is settled. */
  submitter: PendingSubmit | undefined

  constructor(task: LiveTask, { name, note, labels, durability, joinedAt, needsWaiter, submitter }: NewOperation) {
    this.name = name
    this.task = task
    this.ownNote = note
    this.labels = labels
    this.durability = durability
    this.joinedAt = joinedAt
    this.needsWaiter = needsWaiter
    this.submitter = submitter
  }

  get note(): Uint8Array | undefined {
    return this === this.task.first ? this.task.note : this.ownNote
  }
}

/** Oldest operation first. */
export const operationsOf = ({ first, merged }: LiveTask): readonly Operation[] =>
  merged === undefined ? [first] : [first, ...merged]

export interface Watch {
  readonly watcher: Watcher
  /** Undefined when the operation can only be in the journal. */
  readonly operation: Operation | undefined
  isDue: boolean
  isClosed: boolean
}

/** A lease that the scheduler granted, before it is sent to the worker's session. */
export interface GrantedLease {
  readonly task: LiveTask
  readonly worker: string
  readonly fencing: Fencing
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly prefetch: boolean
}

/** Responds to the report that ended the task, and to its repetitions. */
export function answerReports(task: LiveTask, verdict: 'applied' | 'superseded'): void {
  task.report?.answer(verdict)
  task.report = undefined
  if (task.repeated === undefined) return
  for (const report of task.repeated) report.answer(verdict)
  task.repeated = undefined
}

/** The number of attempts whose program was started. A result proves a start that the worker did not report. */
export function startsOf(
  { attempt, unstarted, worker, startedAt }: Pick<LiveTask, 'attempt' | 'unstarted' | 'worker' | 'startedAt'>,
  result: Uint8Array | undefined,
): number {
  const isNewestStarted = worker === undefined || startedAt !== undefined || result !== undefined
  return Math.max(0, attempt - unstarted - (isNewestStarted ? 0 : 1))
}

/** The end of an operation that its client cancelled while the task continued for others. */
export const cancelledEnd = (at: number): OperationEnd => ({
  state: 'cancelled',
  why: 'cancelled',
  what: 'cancelled by its caller',
  at,
  cached: false,
  result: undefined,
})
