import type { CommandResult, CommandTask } from '../model/command-task.ts'
import type { InstanceName } from '../model/instance-name.ts'

/** One command of a submission, as the grid is to run it. */
export interface StepTask {
  readonly submission: string
  readonly instance: InstanceName
  readonly path: string
  readonly priority: number
  readonly task: CommandTask
  /** An earlier start of the server may have asked for it already. */
  readonly mayBeKnown: boolean
}

export interface StepResult {
  readonly result: CommandResult
  readonly cached: boolean
  readonly operation: string
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
   * Runs it once, whoever asks how often: its name follows from the submission and the path. Rejects with a fault when
   * there is no result; aborting the signal cancels it.
   */
  run(step: StepTask, told: (progress: StepProgress) => void, signal: AbortSignal): Promise<StepResult>
  /** Whether any worker runs containers. */
  runsImages(): boolean
}
