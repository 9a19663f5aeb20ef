import type { FinalState, TaskState } from '../../model/task-state.ts'
import type { Durability, Fact, RecordedFencing } from './fact.ts'

/**
 * Persists the facts about accepted tasks. The scheduler has the current state in memory. The journal has the facts
 * that restore it after a stop or crash, and the history of ended tasks. The journal decides nothing: it records facts
 * that the engine has decided. One server writes; `owner` and the epoch identify the server and its start.
 */
export interface Journal {
  /**
   * Starts a new epoch and returns the open tasks. The epoch is greater than any earlier one, and on disk when this
   * resolves. Must be called once, before the first `record`. With `each`, an implementation passes the tasks in parts
   * and returns only the rest: 100,000 tasks at once take hundreds of megabytes.
   */
  recover(each?: (part: Recovered) => void): Promise<Recovered>
  /**
   * Records the facts in order, after those of earlier calls. Resolves when they have the requested durability; two
   * calls may resolve in any order. All calls of one loop turn share a transaction. A call is atomic: a call that fails
   * records nothing. The caller may reuse its bytes at once. Returns the tasks whose `finished` came too late: those
   * results must not be reported to any client.
   */
  record(facts: readonly Fact[], durability: Durability): Promise<readonly string[]>
  /** Finds a task by the name of any of its operations, including merged ones and those that left. */
  find(operation: string): Promise<TaskRecord | undefined>
  /** Lists tasks, newest first. Facts are listed after their `record` has resolved. */
  list(query: HistoryQuery, cursor?: string): Promise<HistoryPage>
  /** Deletes tasks that ended before this time, with all their data, and returns how many. Open tasks are kept. */
  forget(before: number): Promise<number>
  /** Waits for earlier calls of `record`. Refuses all later calls. */
  close(): Promise<void>
}

export interface Recovered {
  readonly epoch: number
  /** In the order of acceptance. */
  readonly tasks: readonly OpenTask[]
  /** All property names that were ever offered. */
  readonly namesOffered: readonly string[]
}

/** A recorded task, without its bytes. */
export interface TaskSummary {
  readonly task: string
  readonly instance: string
  readonly invocation: string
  readonly priority: number
  readonly origin: string
  readonly actionKey: string | undefined
  readonly durability: Durability
  readonly acceptedAt: number
  readonly state: TaskState
  /** The number of attempts so far. */
  readonly attempt: number
  /** The newest lease. An open task has one only while it is leased. */
  readonly lease: Lease | undefined
  readonly cancel: { readonly reason: string; readonly at: number } | undefined
  readonly end: { readonly state: FinalState; readonly reason: string; readonly at: number } | undefined
  /** The name of its first operation. */
  readonly operation: string
}

export interface OpenTask extends TaskSummary {
  readonly spec: Uint8Array
  /** In the order of arrival; the first is the operation that the task was accepted with. */
  readonly operations: readonly OperationRecord[]
  readonly lostWorkers: readonly string[]
  /** The number of grid faults that the task has survived. */
  readonly faults: number
  /** For a retrying task: when it is queued again. */
  readonly due: number | undefined
  /** Why the last attempt ended without a result. */
  readonly requeueReason: string | undefined
}

export interface TaskRecord extends OpenTask {
  readonly result: Uint8Array | undefined
  /** Ends that came too late, in the order of arrival. */
  readonly superseded: readonly Superseded[]
}

export interface Lease {
  readonly worker: string
  readonly fencing: RecordedFencing
  readonly at: number
  readonly startedAt: number | undefined
}

export interface OperationRecord {
  readonly name: string
  readonly note: Uint8Array | undefined
  readonly joinedAt: number
  readonly leftAt: number | undefined
}

export interface Superseded {
  readonly state: FinalState
  readonly fencing: RecordedFencing | undefined
  readonly reason: string
  readonly at: number
}

/** A field that is not set does not restrict the query. */
export interface HistoryQuery {
  /** Only tasks whose first operation has one of these names: for a caller that knows the few tasks that can match. */
  readonly operations?: readonly string[] | undefined
  readonly instance?: string | undefined
  readonly invocation?: string | undefined
  readonly origin?: string | undefined
  readonly states?: readonly TaskState[] | undefined
  /**
   * Whether to include tasks in other states that an operation left: for the caller of that operation the task is
   * cancelled.
   */
  readonly orLeft?: boolean | undefined
  /** A case-sensitive part of the name of one of its operations. */
  readonly name?: string | undefined
  /**
   * Its operations and its end have all of these labels. A task that was recorded before labels existed is always
   * listed, so the caller must check the labels.
   */
  readonly labels?: readonly string[] | undefined
  readonly acceptedFrom?: number | undefined
  readonly acceptedBefore?: number | undefined
  /** The most tasks on a page: at most 1,000, and 100 by default. */
  readonly limit?: number | undefined
  /** Whether to return whole records too. A page of large records is short. */
  readonly whole?: boolean | undefined
}

export interface HistoryPage {
  readonly tasks: readonly TaskSummary[]
  /** The whole records of the same tasks, if the query has `whole`. */
  readonly records?: readonly TaskRecord[] | undefined
  /** For each record, the cursor of a page that begins with it. */
  readonly begins?: readonly string[] | undefined
  /**
   * The cursor of the next page; undefined at the end. A page may be short or empty and still have a next one: one call
   * reads a limited number of rows, so that a query without matches does not read the whole history at once.
   */
  readonly next: string | undefined
}
