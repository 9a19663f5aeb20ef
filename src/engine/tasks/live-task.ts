import type { Digest } from '../../base/digest.ts'
import type { FaultError } from '../../base/fault.ts'
import type { Fencing } from '../../model/fencing.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { FinalState, TaskState } from '../../model/task-state.ts'
import type { EndWhy } from '../../scheduler/model/effects.ts'
import type { Durability } from '../../storage/journal/fact.ts'
import type { TaskMeter } from './grid-meter.ts'
import type { OutputRing } from './output-ring.ts'
import type { Attendance, RecordState } from './record-state.ts'
import type { OperationStatus } from './status.ts'

/** What a client asks after. Each has a name of its own; those that were merged have one task. */
export interface Operation {
  readonly name: string
  readonly task: LiveTask
  readonly note: Uint8Array | undefined
  readonly durability: Durability
  readonly joinedAt: number
  needsWaiter: boolean
  /** Whether the journal was given the operation, and has acknowledged it. */
  record: 'unrecorded' | 'recorded' | 'durable'
  attendance: Attendance
  leftAt: number
  isLeftRecorded: boolean
  watches: Watch[] | undefined
  /** Its place among those that nobody watches, and since when it has been there. */
  unwatchedAt: number | undefined
  unwatchedBefore: Operation | undefined
  unwatchedAfter: Operation | undefined
  /** The promise of `submit`, until it is settled. */
  submitter: PendingSubmit | undefined
}

/** Resolves or rejects the promise of a `submit`. */
export interface PendingSubmit {
  resolve(status: OperationStatus): void
  reject(error: Error): void
}

/** Receives the changes of an operation. */
export interface Watcher {
  /** Called first with the current status, then once per loop turn in which it changed; last with the end. */
  told(status: OperationStatus): void
  /** There is no such operation, or its status cannot be read. No call follows. */
  failed(error: FaultError): void
}

export interface Watch {
  readonly watcher: Watcher
  readonly operation: Operation | undefined
  isDue: boolean
  isClosed: boolean
}

/** A lease that the scheduler granted, on its way to the worker's session. */
export interface GrantedLease {
  readonly task: LiveTask
  readonly worker: string
  readonly fencing: Fencing
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly prefetch: boolean
}

/** Called when the facts of the event under way are durable, or could not be written. */
export interface RecordHook {
  resolve(): void
  reject(error: Error): void
}

export interface Ending {
  readonly state: FinalState
  readonly why: EndWhy
  readonly what: string
  readonly at: number
  /** The lease that the result came under; without it the grid itself decided. */
  readonly fencing: Fencing | undefined
  readonly result: Uint8Array | undefined
  readonly roots: readonly Digest[]
  /** As the journal keeps it. */
  readonly envelope: Uint8Array
  /** True when the action cache may store the result. */
  readonly goesToCache: boolean
}

/** A worker's word on how an attempt ended, until the scheduler has judged it. */
export interface Report {
  readonly fencing: Fencing
  readonly result: Uint8Array | undefined
  readonly roots: readonly Digest[]
  readonly succeeded: boolean
  answer(verdict: 'applied' | 'superseded'): void
}

/**
 * A task that is open, or whose end is not yet told: the engine's half of what the scheduler has under the same id. What
 * the journal was given of it is beside what is true now, and the difference is what is to be recorded next; so when a
 * record fails, all that has to be done is to forget what was given.
 */
export interface LiveTask {
  readonly id: string
  readonly instance: InstanceName
  readonly invocation: string
  readonly origin: string
  readonly actionKey: string | undefined
  readonly cacheable: boolean
  readonly mayStartEarly: boolean
  readonly isToldLate: boolean
  readonly timeoutMs: number | undefined
  readonly spec: Uint8Array
  readonly acceptedAt: number
  readonly meter: TaskMeter
  readonly first: Operation
  merged: Operation[] | undefined
  /** The strongest word that any of its operations was given. */
  durability: Durability
  /** With the spec in it, for as long as the journal has not got it. */
  envelope: Uint8Array | undefined
  hasRoots: boolean

  priority: number
  state: TaskState
  attempt: number
  /** Attempts of before a restart, which the scheduler does not count. */
  readonly attemptsBefore: number
  /** Attempts that came to nothing before they were started, as far as this process knows. */
  unstarted: number
  worker: string | undefined
  fencing: Fencing | undefined
  /** As its worker was told it under that number, if this start told it. */
  attemptId: string | undefined
  /** Not told to its worker before the task's own row is there. */
  held: GrantedLease | undefined
  /** The worker was told of its lease. */
  isDelivered: boolean
  queuedAt: number
  assignedAt: number | undefined
  startedAt: number | undefined
  dueAt: number | undefined
  lostWorkers: readonly string[]
  /** Grid faults that it has survived. */
  faults: number
  /** Why its newest attempt came to nothing. */
  reason: string
  /** How often it came back to the queue. */
  course: number
  isCancelRequested: boolean
  ending: Ending | undefined
  /** Its result is on its way to the cache, or its blobs are to the disk: the end is not recorded before. */
  isPersistingResult: boolean
  report: Report | undefined
  /** Workers that told of the same end again while it was being recorded. */
  repeated: Report[] | undefined
  output: OutputRing | undefined

  record: RecordState
  /** The task is on the list of those whose facts are written when the event under way ends. */
  isDirty: boolean
  readonly given: Given
}

/** What the journal was given of a task. */
export interface Given {
  priority: number
  course: number
  fencing: Fencing | undefined
  started: boolean
  cancel: boolean
  end: boolean
}

export type NewTask = Pick<
  LiveTask,
  | 'id'
  | 'instance'
  | 'invocation'
  | 'origin'
  | 'actionKey'
  | 'cacheable'
  | 'mayStartEarly'
  | 'isToldLate'
  | 'timeoutMs'
  | 'spec'
  | 'acceptedAt'
  | 'meter'
  | 'durability'
  | 'envelope'
  | 'hasRoots'
  | 'priority'
  | 'attemptsBefore'
>

export type NewOperation = Pick<Operation, 'name' | 'note' | 'needsWaiter' | 'durability' | 'joinedAt' | 'submitter'>

/** Field by field: thirty thousand of them a second are made, and copying an object costs more than all the rest. */
export function newLiveTask(task: NewTask, operation: NewOperation): LiveTask {
  const live: Mutable<LiveTask> = {
    id: task.id,
    instance: task.instance,
    invocation: task.invocation,
    origin: task.origin,
    actionKey: task.actionKey,
    cacheable: task.cacheable,
    mayStartEarly: task.mayStartEarly,
    isToldLate: task.isToldLate,
    timeoutMs: task.timeoutMs,
    spec: task.spec,
    acceptedAt: task.acceptedAt,
    meter: task.meter,
    first: undefined as unknown as Operation, // below: each has the other
    merged: undefined,
    durability: task.durability,
    envelope: task.envelope,
    hasRoots: task.hasRoots,
    priority: task.priority,
    state: 'pending',
    attempt: task.attemptsBefore,
    attemptsBefore: task.attemptsBefore,
    unstarted: 0,
    worker: undefined,
    fencing: undefined,
    attemptId: undefined,
    held: undefined,
    isDelivered: false,
    queuedAt: task.acceptedAt,
    assignedAt: undefined,
    startedAt: undefined,
    dueAt: undefined,
    lostWorkers: NOBODY,
    faults: 0,
    reason: '',
    course: 0,
    isCancelRequested: false,
    ending: undefined,
    isPersistingResult: false,
    report: undefined,
    repeated: undefined,
    output: undefined,
    record: 'unrecorded',
    isDirty: false,
    given: newGiven(task.priority),
  }
  live.first = newOperation(live, operation)
  return live
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

const newGiven = (priority: number): Given => ({
  priority,
  course: 0,
  fencing: undefined,
  started: false,
  cancel: false,
  end: false,
})

const NOBODY: readonly string[] = []

export const newOperation = (task: LiveTask, operation: NewOperation): Operation => ({
  name: operation.name,
  task,
  note: operation.note,
  durability: operation.durability,
  joinedAt: operation.joinedAt,
  needsWaiter: operation.needsWaiter,
  submitter: operation.submitter,
  record: 'unrecorded',
  attendance: 'waiting',
  leftAt: 0,
  isLeftRecorded: false,
  watches: undefined,
  unwatchedAt: undefined,
  unwatchedBefore: undefined,
  unwatchedAfter: undefined,
})

/** In the order in which they came. */
export const operationsOf = ({ first, merged }: LiveTask): readonly Operation[] =>
  merged === undefined ? [first] : [first, ...merged]

/** As if the journal had never heard of anything but the task itself. */
export function forgetGiven({ given }: LiveTask): void {
  given.priority = Number.NaN
  given.course = -1
  given.fencing = undefined
  given.started = false
  given.cancel = false
  given.end = false
}
