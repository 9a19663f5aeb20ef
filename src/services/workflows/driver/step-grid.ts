import type { CommandOutputs, CommandTask, StageResult } from '../../../model/command-task.ts'
import type { InstanceName } from '../../../model/instance-name.ts'

/** One command of a workflow run, as a task for the grid. */
export interface StepTask {
  readonly submission: string
  readonly instance: InstanceName
  readonly path: string
  readonly priority: number
  readonly task: CommandTask
  /** An earlier start of the server may have submitted it already. */
  readonly mayBeKnown: boolean
  /** The document requires a network; where it only hints at one, the step runs without when there is none. */
  readonly requiresNetwork: boolean
}

export interface StepResult {
  readonly result: StepEnd
  readonly cached: boolean
  readonly operation: string
}

/** The parts of a task result that a workflow uses: they are copied between threads. */
export interface StepEnd {
  /** The result of the last stage. */
  readonly stage: Pick<StageResult, 'cause' | 'exitCode' | 'reason'> | undefined
  readonly outputs: CommandOutputs
}

/** The state of a step before its end. */
export interface StepProgress {
  readonly state: 'queued' | 'running' | 'retrying'
  readonly operation: string
  readonly startedAt: number | undefined
}

/** The grid's port for workflows. */
export interface StepGrid {
  /**
   * Runs a step once, even if it is called several times: its name is derived from the run and the path. Rejects with a
   * fault when there is no result; aborting the signal cancels it.
   */
  run(step: StepTask, progressed: (progress: StepProgress) => void, signal: AbortSignal): Promise<StepResult>
  /** Whether any worker runs containers; with `inPlaces`, whether one can mount parts of a room at other paths. */
  runsImages(inPlaces: boolean): boolean
}
