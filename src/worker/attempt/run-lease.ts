import { type Digest, digestFunctionByHexLength } from '../../base/digest.ts'
import { parseDigest } from '../../base/digest-text.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import type { CommandTask, TaskResult } from '../../model/command-task.ts'
import { actionFromProto, taskFromMessages } from '../../wire/reapi/action.ts'
import { taskResultToProto } from '../../wire/tasks/command-task-result.ts'
import { ACTION_ORIGIN, type DecodedSpec, taskFromSpec } from '../../wire/tasks/task-spec.ts'
import type { LeaseMessage } from '../../wire/workers/lease-stream.ts'
import type { AttemptState } from '../../wire/workers/report.ts'
import { fetchBlob } from '../cas/fetch-blob.ts'
import type { BlobSource } from '../inputs/blob-source.ts'
import type { Attempt, Executor } from './executor.ts'

export interface LeaseRun extends Pick<Attempt, 'name' | 'hooks' | 'begun' | 'results'> {
  readonly lease: EncodedTask & Partial<Pick<LeaseMessage, 'queuedAt'>> & Pick<LeaseMessage, 'timeoutMs'>
  readonly executor: Executor
  /** The store of an action's messages that are too large for the lease. */
  readonly source: BlobSource
}

type EncodedTask = Pick<LeaseMessage, 'origin' | 'spec' | 'actionDigest'>

/** Runs the task of a lease, and returns the report for the server. Never throws. */
export async function runLease(run: LeaseRun, signal: AbortSignal): Promise<AttemptState> {
  try {
    const { lease, executor, source, ...attempt } = run
    const { timeoutMs, queuedAt } = lease
    const decoded = decodedSpec(lease)
    const task = decoded.task ?? (await fetchedActionTask(decoded.actionDigest, source, signal))
    return reportOf(task, await executor.execute({ ...attempt, task, timeoutMs, queuedAt }, signal))
  } catch (error) {
    return faultReport(error, signal)
  }
}

/**
 * The result has no task when the messages of an action are too large for a lease: the caller reads them from the
 * store.
 */
function decodedSpec(lease: EncodedTask): DecodedSpec {
  const { origin, spec } = lease
  if (origin === ACTION_ORIGIN && spec.length === 0) return { task: undefined, actionDigest: actionOnly(lease) }
  const decoded = taskFromSpec(lease)
  if (decoded !== undefined) return decoded
  const what = `this worker does not support tasks from ${origin.slice(0, 100)}`
  throw new FaultError({ kind: 'unavailable', what })
}

/** A server that supports only expbuild's protocol sends the digest of an action instead of a spec. */
function actionOnly({ actionDigest }: EncodedTask): Digest {
  const fn = digestFunctionByHexLength(actionDigest.indexOf('/'))
  if (fn === undefined) throw invalid(`${JSON.stringify(actionDigest.slice(0, 200))} is not the digest of an action`)
  return parseDigest(actionDigest, fn)
}

/** The task of an action whose messages are in the store. Throws `missing`. */
export async function fetchedActionTask(
  actionDigest: Digest,
  source: BlobSource,
  signal: AbortSignal,
): Promise<CommandTask> {
  const action = await fetchBlob(source, actionDigest, signal)
  const command = await fetchBlob(source, actionFromProto(action, actionDigest.fn).commandDigest, signal)
  return taskFromMessages(actionDigest, { action, command })
}

/** A JVM, or a shell whose child was killed, exits with 128 and the number of the signal (POSIX.1-2017, XCU 2.8.2). */
const ENDED_BY_SIGTERM = 128 + 15

function reportOf(task: CommandTask, result: TaskResult): AttemptState {
  const { cause, signal: killedBy, exitCode } = result.stages.at(-1) ?? {}
  const signal = exitCode === ENDED_BY_SIGTERM ? 'SIGTERM' : killedBy
  const reported = { result: taskResultToProto(task, result), fn: task.fn }
  return cause === 'timeout' ? { kind: 'timeout', ...reported } : { kind: 'result', ...reported, signal }
}

const MOST_MESSAGE_CHARS = 2000

/** A task that is invalid, or whose inputs are missing, fails on every worker. */
function faultReport(error: unknown, signal: AbortSignal): AttemptState {
  if (signal.aborted) return { kind: 'stopped' }
  const fault = error instanceof FaultError ? error.fault : undefined
  const what = (error instanceof Error ? error.message : String(error)).slice(0, MOST_MESSAGE_CHARS)
  return { kind: 'fault', what, hopeless: fault?.kind === 'invalid' || fault?.kind === 'missing' }
}
