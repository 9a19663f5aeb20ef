import type { StepYield } from '../driver/run-workflow.ts'
import type { StepStatus, WorkflowRunEnd, WorkflowRunHead, WorkflowRunRequest } from '../driver/workflow-run.ts'

/**
 * The durable state of runs. The tasks of their steps are in the journal under names derived from the run: with the
 * request alone, all of them can be found again.
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
  /** The stored end of a run. */
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
