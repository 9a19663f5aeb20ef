import type { IsolationLevel } from '../../model/isolation.ts'
import type { AttemptTools } from '../attempt.ts'
import { attemptCommand } from '../command-task/attempt-command.ts'
import type { LanguageTrial } from './test-language.ts'

export interface TrialOptions {
  readonly tools: AttemptTools
  /** Unlike that of any other room of this worker. */
  readonly roomName: () => string
  readonly isolation: IsolationLevel
}

/** The way that every command task goes on this worker. */
export const trialInRooms = ({ tools, roomName, isolation }: TrialOptions): LanguageTrial => ({
  run: (task, signal) =>
    attemptCommand(
      { name: roomName(), task, queuedAt: undefined, hooks: {}, timeoutMs: undefined, begun: undefined },
      tools,
      signal,
    ),
  clock: tools.clock,
  isolation,
})
