import type { Stager } from '../../../stagers/stager.ts'
import type { StepOutcome } from '../../../workflow/run/state.ts'
import type { StepEnded, WorkflowRun } from './run-workflow.ts'
import type { StepResult, StepTask } from './step-grid.ts'
import type { PlainBlobs } from './tree-blobs.ts'

/** The functions of the server that a run calls. */
export interface RunHost {
  readonly blobs: PlainBlobs
  /** The server's stagers, over the same blobs. */
  readonly stager: Stager
  runStep(step: StepTask): Promise<StepResult>
  runsImages(inPlaces: boolean): boolean
  ended(end: StepEnded): void
  /** Aborted when the run is cancelled: no new step is started. */
  readonly signal: AbortSignal
}

/** Drives runs, several at a time. */
export interface WorkflowDriver {
  /** Rejects only because of a bug. */
  run(run: WorkflowRun, host: RunHost): Promise<StepOutcome>
  /** Open runs continue after the next start. */
  close(): Promise<void>
}
