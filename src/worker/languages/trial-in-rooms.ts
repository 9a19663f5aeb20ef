import type { Clock } from '../../base/clock.ts'
import { toCommandResult } from '../../model/command-task.ts'
import type { IsolationLevel } from '../../model/isolation.ts'
import type { Executor } from '../attempt/executor.ts'
import type { LanguageTrial } from './test-language.ts'

export interface TrialOptions {
  readonly executor: Executor
  readonly clock: Clock
  /** A name that is unique among the rooms of this machine. */
  readonly roomName: () => string
  readonly isolation: IsolationLevel
}

/** Runs self-tests in the same way as all tasks on this worker. */
export const trialInRooms = ({ executor, clock, roomName, isolation }: TrialOptions): LanguageTrial => ({
  run: async (task, signal) => toCommandResult(await executor.execute({ name: roomName(), task, hooks: {} }, signal)),
  clock,
  isolation,
})
