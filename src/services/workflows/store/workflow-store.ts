import type { StepYield } from '../driver/run-workflow.ts'
import type { StepStatus, WorkflowRunEnd, WorkflowRunHead, WorkflowRunRequest } from '../driver/workflow-run.ts'

/**
 * What has to be known of submissions after a stop of any kind. The tasks of their steps are on record elsewhere, under
 * names that follow from the submission: with the order alone, all of it can be found again.
 */
export interface WorkflowStore {
  /** Resolves when it is on the disk. */
  add(submission: StoredRequest): Promise<void>
  /** A step is over. Outlives the process; what the power takes with it is found by asking the grid. */
  note(id: string, note: StepNote): void
  /** Resolves when it outlives the process. Notes are not needed any more. */
  end(id: string, ended: StoredEnd): Promise<void>
  /** All that are not over, and the heads of those that are; the oldest first. */
  load(): Promise<Loaded>
  /** Of one that is over. */
  ended(id: string): Promise<StoredEnd | undefined>
  /** Nothing happens when there is none. */
  remove(id: string): Promise<void>
  /** Resolves when all that was noted is written. */
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
