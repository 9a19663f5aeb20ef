import type { CommandTask, TaskResult } from '../../model/command-task.ts'
import type { OutputBlob } from './blob-target.ts'

/** Collects the outputs of an attempt from its room. */
export interface OutputCollector {
  /**
   * Gathers the outputs that a task asks for. An output that does not exist is left out. When the commands left something
   * that cannot be collected, the result states the problem; an ActionResult has no field for it, so for an action
   * `invalid` is thrown.
   */
  collect(order: CollectRequest, signal: AbortSignal): Promise<Collected>
}

export type TaskOutputs = Pick<
  TaskResult,
  | 'outputFiles'
  | 'outputDirectories'
  | 'outputSymlinks'
  | 'legacyFileSymlinks'
  | 'legacyDirectorySymlinks'
  | 'outputsRoot'
  | 'problem'
>

export interface Collected {
  readonly outputs: TaskOutputs
  /** The contents of the outputs. Large ones are read from the room, so it must still exist. */
  readonly blobs: readonly OutputBlob[]
}

export interface CollectRequest {
  readonly task: Pick<CommandTask, 'fn' | 'workingDirectory' | 'outputs' | 'places' | 'action'>
  /** The room's directory, without symlinks in its path. */
  readonly root: string
}

export const NO_OUTPUTS: TaskOutputs = {
  outputFiles: [],
  outputDirectories: [],
  outputSymlinks: [],
  legacyFileSymlinks: [],
  legacyDirectorySymlinks: [],
  outputsRoot: undefined,
  problem: undefined,
}
