/** The parts of a live task, its operations and the record of both. */
import type { Digest } from '../../base/digest.ts'
import type { FaultError } from '../../base/fault.ts'
import type { Fencing } from '../../model/fencing.ts'
import type { InputEvent } from '../../model/live-input.ts'
import type { FinalState } from '../../model/task-state.ts'
import type { EndWhy } from '../../scheduler/model/effects.ts'
import type { OperationStatus } from './status.ts'

/** Resolves or rejects the promise of a `submit`. */
export interface PendingSubmit {
  resolve(status: OperationStatus): void
  reject(error: Error): void
}

export interface Ending {
  readonly state: FinalState
  readonly why: EndWhy
  readonly what: string
  readonly at: number
  /** The lease under which the result was reported; undefined when the grid ended the task itself. */
  readonly fencing: Fencing | undefined
  readonly result: Uint8Array | undefined
  readonly roots: readonly Digest[]
  /** The form in which the journal stores it. */
  readonly envelope: Uint8Array
  /** True unless the task completed and its command succeeded. */
  readonly isUnsuccessful: boolean
  /** True when the action cache may store the result. */
  readonly isCacheable: boolean
}

/** The report of a worker on the end of an attempt, until the worker is answered. */
export interface Report {
  readonly fencing: Fencing
  readonly result: Uint8Array | undefined
  readonly roots: readonly Digest[]
  readonly succeeded: boolean
  answer(verdict: 'applied' | 'superseded'): void
}

/** Inputs to an interactive task that the worker has not acknowledged, oldest first. */
export interface InputQueue {
  waiting: WaitingInput[]
  /** The total size of the waiting inputs. */
  bytes: number
  /** The number of the newest input. */
  newest: number
}

export interface WaitingInput {
  readonly number: number
  readonly event: InputEvent
  /** Resolves the promise of `input`. */
  resolve(): void
}

/** Called when the facts of the current event are durable, or could not be written. */
export interface RecordHook {
  resolve(): void
  reject(error: Error): void
}

/** The journal's writes fail at present. */
export interface JournalTrouble {
  readonly error: FaultError
  readonly delayMs: number
  /** New tasks are refused until then; on the monotonic clock. */
  readonly until: number
}
