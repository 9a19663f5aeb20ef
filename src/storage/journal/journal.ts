import type { FinalState, TaskState } from '../../model/task-state.ts'
import type { Durability, Fact, RecordedFencing } from './fact.ts'

/**
 * Persists the facts about accepted tasks. The scheduler holds the current state in memory; the journal holds the facts
 * that restore it after any kind of stop, and the history of ended tasks. The journal decides nothing: it records facts
 * that the engine has made true. One server writes; `owner` and epoch name it and its start.
 */
export interface Journal {
  /**
   * Takes a new epoch, greater than any before it and on the disk when this resolves, and answers with all that is
   * open. Called once, before the first `record`.
   */
  recover(): Promise<Recovered>
  /**
   * Takes the facts in order, after all that were given before, and resolves when they are as durable as the word says.
   * All calls of one loop turn go together; two calls may resolve in any order. Facts of one call stand or fall
   * together, and a call that fails has left nothing behind. Bytes may be reused at once. Answers with the tasks whose
   * `finished` came too late: those results must not be told to anyone.
   */
  record(facts: readonly Fact[], durability: Durability): Promise<readonly string[]>
  /** By the name of any of its operations, merged ones and those that left included. */
  find(operation: string): Promise<TaskRecord | undefined>
  /** The newest first. What was recorded is listed once `record` has resolved. */
  list(query: HistoryQuery, cursor?: string): Promise<HistoryPage>
  /** Drops tasks that ended before this time, with all that belongs to them, and answers how many. Open ones stay. */
  forget(before: number): Promise<number>
  /** What was recorded before is settled first. Everything after is refused. */
  close(): Promise<void>
}

export interface Recovered {
  readonly epoch: number
  /** In the order in which they were accepted. */
  readonly tasks: readonly OpenTask[]
  /** All property names that were ever offered. */
  readonly namesOffered: readonly string[]
}

/** What is on record of a task, whatever came of it. */
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
  /** How many attempts were begun. */
  readonly attempt: number
  /** The newest lease; of an open task only while a worker has it. */
  readonly lease: Lease | undefined
  readonly cancel: { readonly reason: string; readonly at: number } | undefined
  readonly end: { readonly state: FinalState; readonly reason: string; readonly at: number } | undefined
  /** The name of its first operation. */
  readonly operation: string
}

export interface OpenTask extends TaskSummary {
  readonly spec: Uint8Array
  /** In the order in which they came; the first is the one it was accepted with. */
  readonly operations: readonly OperationRecord[]
  readonly lostWorkers: readonly string[]
  /** How many grid faults it has survived. */
  readonly faults: number
  /** When a task that is retrying is to be queued again. */
  readonly due: number | undefined
  /** Why its newest attempt ended without an answer. */
  readonly requeueReason: string | undefined
}

export interface TaskRecord extends OpenTask {
  readonly result: Uint8Array | undefined
  /** Ends that came too late, in the order in which they came. */
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

/** What is not said does not matter. */
export interface HistoryQuery {
  readonly instance?: string | undefined
  readonly invocation?: string | undefined
  readonly origin?: string | undefined
  readonly states?: readonly TaskState[] | undefined
  /** Those also whose state is another, when one of their operations left: to its caller that one is cancelled. */
  readonly orLeft?: boolean | undefined
  /** This is part of the name of one of its operations, letter by letter. */
  readonly name?: string | undefined
  readonly acceptedFrom?: number | undefined
  readonly acceptedBefore?: number | undefined
  /** At most this many, and never more than 1,000; 100 when not said. */
  readonly limit?: number | undefined
  /** With their records, read in one go. A page of large ones is short. */
  readonly whole?: boolean | undefined
}

export interface HistoryPage {
  readonly tasks: readonly TaskSummary[]
  /** The same tasks with all that is on record of them, where that was asked for. */
  readonly records?: readonly TaskRecord[] | undefined
  /** For each record the cursor with which a page begins with it. */
  readonly begins?: readonly string[] | undefined
  /**
   * Where to go on; undefined at the end. A page may be short, or even empty, and still have one: how far one call
   * looks is bounded, so that a question that nothing answers to does not read the whole history at once.
   */
  readonly next: string | undefined
}
