import { type Digest, digestFunctionByHexLength } from '../base/digest.ts'
import { parseDigest } from '../base/digest-text.ts'
import { FaultError, invalid } from '../base/fault.ts'
import type { Command } from '../model/command.ts'
import { COMMAND_ORIGINS } from '../model/command-task.ts'
import { actionResultToProto } from '../wire/reapi/action-result.ts'
import { actionFromProto, commandFromProto } from '../wire/reapi/execution-action.ts'
import { commandOfAction } from '../wire/reapi/execution-command.ts'
import { actionSpecFromProto } from '../wire/tasks/action-spec.ts'
import { commandTaskFromProto } from '../wire/tasks/command-task.ts'
import { commandResultToProto } from '../wire/tasks/command-task-result.ts'
import type { LeaseMessage } from '../wire/workers/lease.ts'
import type { TaskNews } from '../wire/workers/status.ts'
import { type AttemptOutcome, type AttemptTools, attempt } from './attempt.ts'
import { fetchBlob } from './cas/fetch-blob.ts'
import { attemptCommand } from './command-task/attempt-command.ts'
import type { StageHooks } from './command-task/run-stages.ts'
import type { StageResults } from './command-task/stage-cache.ts'
import { gate } from './daemon-gate.ts'
import type { BlobSource } from './inputs/blob-source.ts'

/** Everything that an attempt of one instance needs. */
export interface InstanceTools {
  readonly tools: AttemptTools
  readonly source: BlobSource
}

export interface LeaseRun {
  readonly lease: Pick<LeaseMessage, 'attemptId' | 'origin' | 'spec' | 'actionDigest' | 'timeoutMs'> &
    Partial<Pick<LeaseMessage, 'queuedAt'>>
  readonly here: InstanceTools
  readonly hooks: StageHooks
  /** Of an attempt that was sent ahead of its slot: its command starts when this resolves. */
  readonly begun?: Promise<void>
  /** Names the room: unlike that of any other attempt of this worker. */
  readonly room: string
  /** Of the task's compile stage; every stage is run when left out. */
  readonly results?: StageResults
}

/** Runs what a lease is for, and says what came of it. Never throws. */
export async function runLease(run: LeaseRun, signal: AbortSignal): Promise<TaskNews> {
  try {
    if (isCommandTask(run.lease)) return await runCommandTask(run, signal)
    const { digest, outcome } = await runAction(run, signal)
    const kind = outcome.end.cause === 'timeout' ? 'timeout' : 'result'
    const { signal: endedBy } = outcome.end
    return {
      kind,
      result: actionResultToProto(outcome.result),
      fn: digest.fn,
      ...(kind === 'result' && { signal: endedBy }),
    }
  } catch (error) {
    return newsOf(error, signal)
  }
}

const isCommandTask = ({ origin }: LeaseRun['lease']): boolean => COMMAND_ORIGINS.some((one) => one === origin)

async function runCommandTask(run: LeaseRun, signal: AbortSignal): Promise<TaskNews> {
  const { lease, hooks, room: name, begun, results } = run
  const tools = { ...run.here.tools, ...(results && { results }) }
  const task = commandTaskFromProto(lease.spec)
  const { timeoutMs, queuedAt } = lease
  const result = await attemptCommand({ name, task, queuedAt, hooks, timeoutMs, begun }, tools, signal)
  const { cause, signal: endedBy } = result.stages.at(-1) ?? {}
  const kind = cause === 'timeout' ? 'timeout' : 'result'
  return { kind, result: commandResultToProto(result), fn: task.fn, ...(kind === 'result' && { signal: endedBy }) }
}

/** From the lease to a result, or a fault. */
export async function runAction(
  { lease, here: { tools, source }, hooks, room, begun }: LeaseRun,
  signal: AbortSignal,
): Promise<{ readonly digest: Digest; readonly outcome: AttemptOutcome }> {
  if (lease.origin !== 'action')
    throw new FaultError({
      kind: 'unavailable',
      what: `this worker knows nothing of tasks from ${lease.origin.slice(0, 100)}`,
    })
  const { actionDigest: digest, inline } = specOf(lease)
  const { fn } = digest
  const action = actionFromProto(inline?.action ?? (await fetchBlob(source, digest, signal)), fn)
  const message = inline?.command ?? (await fetchBlob(source, action.commandDigest, signal))
  const command = within(commandOfAction(action, commandFromProto(message)), lease.timeoutMs)
  const order = { name: room, command, fn, queuedAt: lease.queuedAt, hooks }
  if (begun === undefined) return { digest, outcome: await attempt(order, tools, signal) }
  const gated = gate(tools, begun)
  return { digest, outcome: gated.timed(await attempt(order, gated.tools, signal)) }
}

type Spec = Pick<ReturnType<typeof actionSpecFromProto>, 'actionDigest' | 'inline'>

/** A server that knows nothing of specs says no more than the digest. */
function specOf({ spec, actionDigest }: LeaseRun['lease']): Spec {
  if (spec.length > 0) return actionSpecFromProto(spec)
  const fn = digestFunctionByHexLength(actionDigest.indexOf('/'))
  if (fn === undefined) throw invalid(`${JSON.stringify(actionDigest.slice(0, 200))} is not the digest of an action`)
  return { actionDigest: parseDigest(actionDigest, fn), inline: undefined }
}

/** The server may allow less than the action asks for. */
function within(command: Command, timeoutMs: number | undefined): Command {
  if (timeoutMs === undefined) return command
  const wallMs = Math.min(timeoutMs, command.limits.wallMs ?? Number.POSITIVE_INFINITY)
  return { ...command, limits: { ...command.limits, wallMs } }
}

const MOST_WORDS = 2000

/** What is wrong with the task itself is wrong on every worker. */
function newsOf(error: unknown, signal: AbortSignal): TaskNews {
  if (signal.aborted) return { kind: 'stopped' }
  const fault = error instanceof FaultError ? error.fault : undefined
  const what = (error instanceof Error ? error.message : String(error)).slice(0, MOST_WORDS)
  return { kind: 'fault', what, hopeless: fault?.kind === 'invalid' || fault?.kind === 'missing' }
}
