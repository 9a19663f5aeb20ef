import type { CommandOutputs, CommandTask, StageResult } from '../../../model/command-task.ts'
import type { InstanceName } from '../../../model/instance-name.ts'

/** One command of a submission, as the grid is to run it. */
export interface StepTask {
  readonly submission: string
  readonly instance: InstanceName
  readonly path: string
  readonly priority: number
  readonly task: CommandTask
  /** An earlier start of the server may have asked for it already. */
  readonly mayBeKnown: boolean
  /** The document requires a network; where it only hints at one, the step runs without when there is none. */
  readonly requiresNetwork: boolean
}

export interface StepResult {
  readonly result: StepEnd
  readonly cached: boolean
  readonly operation: string
}

/** As much of the result of a task as a workflow looks at: all of it goes from one thread to another. */
export interface StepEnd {
  /** The result of the last stage. */
  readonly stage: Pick<StageResult, 'cause' | 'exitCode' | 'reason'> | undefined
  readonly outputs: CommandOutputs
}

/** How a step is getting on, before it is over. */
export interface StepProgress {
  readonly state: 'queued' | 'running' | 'retrying'
  readonly operation: string
  readonly startedAt: number | undefined
}

/** The grid as workflows see it. */
export interface StepGrid {
  /**
   * Runs a step once, however often it is called: its name follows from the submission and the path. Rejects with a
   * fault when there is no result; aborting the signal cancels it.
   */
  run(step: StepTask, told: (progress: StepProgress) => void, signal: AbortSignal): Promise<StepResult>
  /** Whether any worker runs containers; and whether one can show a room in other places than ours. */
  runsImages(inPlaces: boolean): boolean
}
