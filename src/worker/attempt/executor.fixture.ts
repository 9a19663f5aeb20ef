import { type CommandResult, toCommandResult } from '../../model/command-task.ts'
import type { AttemptTools } from './attempt-tools.ts'
import type { Attempt, Executor } from './executor.ts'
import { isolating } from './isolating.ts'
import { localExecutor } from './local-executor.ts'
import { inPreparedRooms } from './prepared-rooms.ts'
import { cachingStages } from './stage-cache.ts'
import { timed } from './timed.ts'

/** The executor as the worker composes it. */
export const wholeExecutor = (tools: AttemptTools): Executor =>
  timed(isolating(cachingStages(inPreparedRooms(localExecutor(tools), [tools.warm, tools.ready]), tools), tools), tools)

/** One attempt, and the projection of its result that snippets and steps read. */
export const attemptCommand = async (
  attempt: Attempt,
  tools: AttemptTools,
  signal: AbortSignal,
): Promise<CommandResult> => toCommandResult(await wholeExecutor(tools).execute(attempt, signal))
