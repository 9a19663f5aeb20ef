import type { StepYield } from '../driver/run-workflow.ts'
import type { StepStatus, WorkflowRunEnd, WorkflowRunHead, WorkflowRunRequest } from '../driver/workflow-run.ts'

/**
 * The durable state of runs. The tasks of their steps are in the journal under names derived from the run: with the
 * request alone, all of them can be found again.
 */
export interface WorkflowStore {
  /** Resolves when the request is durable. */
  add(submission: StoredRequest): Promise<void>
  /** Records a finished step. The note survives the process. After a power failure the journal supplies lost notes. */
  note(id: string, note: StepNote): void
  /** Resolves when the end survives the process. Notes are not needed afterwards. */
  end(id: string, ended: StoredEnd): Promise<void>
  /** Returns all unfinished runs, and the heads of the ended ones, oldest first. */
  load(): Promise<Loaded>
  /** The stored end of a run. */
  ended(id: string): Promise<StoredEnd | undefined>
  /** Does nothing when there is no such run. */
  remove(id: string): Promise<void>
  /** Resolves when all notes are written. */
  close(): Promise<void>
}

export interface StoredRequest {
  readonly head: WorkflowRunHead
  readonly order: WorkflowRunRequest
}

export interface StepNote {
  readonly step: StepStatus
  readonly made: StepYield
}

export interface StoredEnd {
  readonly head: WorkflowRunHead
  readonly end: WorkflowRunEnd
  readonly steps: readonly StepStatus[]
}

export interface Loaded {
  readonly open: readonly (StoredRequest & { readonly notes: readonly StepNote[] })[]
  readonly over: readonly Pick<StoredEnd, 'head' | 'end'>[]
}
