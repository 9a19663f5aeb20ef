import type { ExecutionTime } from '../../model/action-result.ts'
import type { CommandOutputFile, CommandTask, StageResult, TaskResult } from '../../model/command-task.ts'
import type { RunHooks } from '../../runtimes/run/runtime.ts'
import type { StageResults } from '../links/worker-link.ts'
import type { OutputBlob } from '../outputs/blob-target.ts'
import type { PreparedRoom } from '../rooms/prepared-room.ts'
import type { LiveInput } from './live-input.ts'

/**
 * Runs one attempt of a task, from a room to a result whose blobs are stored. A command that fails still has a result.
 * An attempt without a result throws a fault: `cancelled` when the signal was aborted.
 */
export interface Executor {
  execute(attempt: Attempt, signal: AbortSignal): Promise<TaskResult>
}

/** An attempt. Decorators of the executor set the optional fields. */
export interface Attempt {
  /** The name of its room, unique on this machine. */
  readonly name: string
  readonly task: CommandTask
  readonly hooks: StageHooks
  /** Milliseconds since 1970. */
  readonly queuedAt?: number | undefined
  /** The limit for all stages together. */
  readonly timeoutMs?: number | undefined
  /** The attempt was sent before a slot was free: its first stage starts when this resolves. */
  readonly begun?: Promise<void> | undefined
  /** The server's results of the first stage, for this task. */
  readonly results?: StageResults | undefined
  /** A room that was made ahead and fits this task. */
  readonly room?: PreparedRoom | undefined
  readonly stageCache?: AttemptStageCache | undefined
  /** Records this moment as the time at which parts of the attempt begin or end. */
  readonly note?: ((...names: readonly ExecutionTime[]) => void) | undefined
}

/** Calls during an attempt: `stage` before each stage, and `started` once. */
export interface StageHooks extends Omit<RunHooks, 'stdin' | 'control'> {
  readonly stage?: (name: string) => void
  /** The input that a client sends while the task runs; without it an interactive stage reads nothing. */
  readonly input?: () => LiveInput
}

export interface AttemptStageCache {
  /** An earlier result of the first stage. */
  readonly found: FoundStage | undefined
  /** Stores the result of the first stage, if it exited with 0, before another stage runs in its room. */
  keep(ran: RanStage, signal: AbortSignal): Promise<void>
}

export interface FoundStage {
  readonly result: StageResult
  /** The files that the stage made; they are placed together with the inputs. */
  readonly files: readonly CommandOutputFile[]
}

export interface RanStage {
  readonly result: StageResult
  /** Output of the stage that is too long for a result. */
  readonly blobs: readonly OutputBlob[]
  /** The directory of the room. */
  readonly root: string
}
