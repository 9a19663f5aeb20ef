import { type CommandResult, toCommandResult } from '../../model/command-task.ts'
import type { Attempt } from './executor.ts'
import { type AttemptTools, attemptPipeline } from './pipeline.ts'

/** Runs one attempt and returns its result as snippets and steps read it. */
export const attemptCommand = async (
  attempt: Attempt,
  tools: AttemptTools,
  signal: AbortSignal,
): Promise<CommandResult> => toCommandResult(await attemptPipeline(tools).execute(attempt, signal))
