import { FaultError } from '../../base/fault.ts'
import type { CommandTask, TaskResult } from '../../model/command-task.ts'
import { taskResultToProto } from '../../wire/tasks/command-task-result.ts'
import type { LeaseMessage } from '../../wire/workers/lease.ts'
import type { TaskNews } from '../../wire/workers/status.ts'
import type { BlobSource } from '../inputs/blob-source.ts'
import type { Attempt, Executor } from './executor.ts'
import { type EncodedLease, taskOfLease } from './lease-task.ts'

export interface LeaseRun extends Pick<Attempt, 'name' | 'hooks' | 'begun' | 'results'> {
  readonly lease: EncodedLease & Partial<Pick<LeaseMessage, 'queuedAt'>> & Pick<LeaseMessage, 'timeoutMs'>
  readonly executor: Executor
  /** Where the messages of an action are read, when they are too large for the lease. */
  readonly source: BlobSource
}

/** Runs the task of a lease, and returns the report for the server. Never throws. */
export async function runLease(run: LeaseRun, signal: AbortSignal): Promise<TaskNews> {
  try {
    const { lease, executor, source, ...attempt } = run
    const { timeoutMs, queuedAt } = lease
    const task = await taskOfLease(lease, source, signal)
    return reportOf(task, await executor.execute({ ...attempt, task, timeoutMs, queuedAt }, signal))
  } catch (error) {
    return faultReport(error, signal)
  }
}

function reportOf(task: CommandTask, result: TaskResult): TaskNews {
  const { cause, signal } = result.stages.at(-1) ?? {}
  const reported = { result: taskResultToProto(task, result), fn: task.fn }
  return cause === 'timeout' ? { kind: 'timeout', ...reported } : { kind: 'result', ...reported, signal }
}

const MOST_MESSAGE_CHARS = 2000

/** A task that is invalid, or whose inputs are missing, fails on every worker. */
function faultReport(error: unknown, signal: AbortSignal): TaskNews {
  if (signal.aborted) return { kind: 'stopped' }
  const fault = error instanceof FaultError ? error.fault : undefined
  const what = (error instanceof Error ? error.message : String(error)).slice(0, MOST_MESSAGE_CHARS)
  return { kind: 'fault', what, hopeless: fault?.kind === 'invalid' || fault?.kind === 'missing' }
}
