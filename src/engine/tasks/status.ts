import type { FaultError } from '../../base/fault.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { FinalState, TaskState } from '../../model/task-state.ts'
import type { EndWhy } from '../../scheduler/model/effects.ts'

/** The state of an operation; each door encodes it in its protocol. Times are milliseconds since 1970. */
export interface OperationStatus {
  readonly operation: string
  readonly task: string
  readonly instance: InstanceName
  readonly origin: string
  readonly state: TaskState
  /** Attempts that were leased to a worker. */
  readonly attempt: number
  /**
   * Attempts whose program was started. An attempt that was returned before a restart of the server may be counted too.
   */
  readonly starts: number
  /** The worker that holds the task, or held it last. */
  readonly worker: string | undefined
  readonly acceptedAt: number
  /** When the operation was submitted: later than its task, if it was merged into that task. */
  readonly joinedAt: number
  readonly queuedAt: number
  readonly assignedAt: number | undefined
  readonly startedAt: number | undefined
  /** Set when the operation has ended, and only then. */
  readonly end: OperationEnd | undefined
  readonly spec: Uint8Array
  /** The note of the request. */
  readonly note: Uint8Array | undefined
}

export interface OperationEnd {
  readonly state: FinalState
  readonly why: EndWhy
  /** The reason, as text. */
  readonly what: string
  readonly at: number
  /** The result is from the action cache: nothing was run. */
  readonly cached: boolean
  readonly result: Uint8Array | undefined
}

/** Receives the changes of an operation. */
export interface Watcher {
  /** Called first with the current status, then once per loop turn in which it changed; last with the end. */
  notify(status: OperationStatus): void
  /** The operation does not exist, or its status cannot be read. No call follows. */
  failed(error: FaultError): void
  /** The status that the watcher already has: while it is current, the first call is left out. */
  readonly known?: OperationStatus
  /** The watcher is notified of the end only. */
  readonly endOnly?: boolean
}

/** The result of a port that a local driver returns at once and a remote driver returns later. Callers await it. */
export type Awaitable<T> = T | Promise<T>
