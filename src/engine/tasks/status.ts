import type { InstanceName } from '../../model/instance-name.ts'
import type { FinalState, TaskState } from '../../model/task-state.ts'
import type { EndWhy } from '../../scheduler/model/effects.ts'

/** Where an operation stands, for a door to put into its own words. Times are milliseconds since 1970. */
export interface OperationStatus {
  readonly operation: string
  readonly task: string
  readonly instance: InstanceName
  readonly origin: string
  readonly state: TaskState
  /** Attempts that were begun. */
  readonly attempt: number
  /** Those of them whose program was started, as far as is known: what was given back before a restart may be among them. */
  readonly starts: number
  /** The worker that holds the task, or held it last. */
  readonly worker: string | undefined
  readonly acceptedAt: number
  /** When the operation came: later than its task, where it was merged into one. */
  readonly joinedAt: number
  readonly queuedAt: number
  readonly assignedAt: number | undefined
  readonly startedAt: number | undefined
  /** Set when the operation has ended, and only then. */
  readonly end: OperationEnd | undefined
  readonly spec: Uint8Array
  /** What the door wanted to remember. */
  readonly note: Uint8Array | undefined
}

export interface OperationEnd {
  readonly state: FinalState
  readonly why: EndWhy
  /** In words. */
  readonly what: string
  readonly at: number
  /** The cache had it, and nothing was run. */
  readonly cached: boolean
  readonly result: Uint8Array | undefined
}
