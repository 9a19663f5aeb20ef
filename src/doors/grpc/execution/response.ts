import type { Digest } from '../../../base/digest.ts'
import { FaultError } from '../../../base/fault.ts'
import type { OperationEnd, OperationStatus } from '../../../engine/tasks/status.ts'
import type { ServerCall } from '../../../grpc/service.ts'
import { STATUS } from '../../../grpc/status.ts'
import type { TaskState } from '../../../model/task-state.ts'
import type { ExecutionTools } from '../../../services/execution/execution-tools.ts'
import { type Ended, serverLogs } from '../../../services/execution/server-log.ts'
import { readWhole } from '../../../storage/read-blobs.ts'
import type { StatusReport } from '../../../wire/google/status.ts'
import { viewActionResult, withAttemptTimes, withWorker } from '../../../wire/hot/action-result.ts'
import {
  type InlineOptions,
  inlineOptionsFromProto,
  inlineRequested,
  withInlined,
} from '../../../wire/hot/inline-outputs.ts'
import {
  type ExecutionResponse,
  type ExecutionStage,
  executionOperationToProto,
} from '../../../wire/reapi/execution.ts'
import { formatOperationName } from '../../../wire/reapi/operation-name.ts'
import { actionSpecFromProto } from '../../../wire/tasks/task-spec.ts'
import { missingInputsStatus } from './problem.ts'

const STAGES: Readonly<Record<TaskState, ExecutionStage>> = {
  pending: 'cacheCheck',
  queued: 'queued',
  assigned: 'queued',
  running: 'executing',
  stopping: 'executing',
  retrying: 'queued',
  // A task that has ended is reported as completed only when its end is durable.
  completed: 'executing',
  failed: 'executing',
  timeout: 'executing',
  cancelled: 'executing',
}

export interface OperationFollower {
  /** A large response is built only when the connection has buffer space for it. */
  readonly call: Pick<ServerCall, 'room'>
  readonly actionDigest: Digest
  /** The outputs that the client requested inline; read from the operation's note when left out. */
  readonly inline?: InlineOptions
}

/** An Operation message, with the result when the operation has ended. */
export type OperationMessages = (status: OperationStatus) => Promise<Uint8Array>

/** The messages of one operation: the fields that are the same in all of them are made once. */
export function operationMessages(
  operation: OperationStatus,
  tools: ExecutionTools,
  follower: OperationFollower,
): OperationMessages {
  const names = namesOf(operation, tools)
  const { actionDigest } = follower
  return async (status) => {
    const response = isEnded(status) ? await executionResponse(status, tools, follower) : undefined
    const stage = response === undefined ? STAGES[status.state] : 'completed'
    return executionOperationToProto({ ...names, stage, actionDigest, partial: status, response })
  }
}

/** An Operation message for lists: with the status at its end, without the result. */
export function operationSummary(status: OperationStatus, tools: ExecutionTools): Uint8Array {
  const { end } = status
  const response = end && { result: undefined, cached: end.cached, status: endStatus(end), message: '' }
  return executionOperationToProto({
    ...namesOf(status, tools),
    stage: response === undefined ? STAGES[status.state] : 'completed',
    actionDigest: actionDigestOf(status),
    partial: status,
    response,
  })
}

function namesOf({ instance, operation }: OperationStatus, { logStreams }: ExecutionTools) {
  const name = formatOperationName({ instance, id: operation })
  return { name, streams: logStreams?.(name) }
}

/** For calls that know an operation by its name only. */
export const actionDigestOf = ({ spec }: OperationStatus): Digest => actionSpecFromProto(spec).actionDigest

const isEnded = (status: OperationStatus): status is Ended => status.end !== undefined

/** Two statuses of an unfinished operation with the same text have the same message. */
export const messageKey = ({ state, worker, queuedAt, assignedAt, startedAt }: OperationStatus): string =>
  `${STAGES[state]} ${queuedAt} ${assignedAt} ${startedAt} ${worker}`

/** gRPC clients accept 4 MiB per message; the rest is for the other fields of the operation. */
const MOST_RESULT_BYTES = 3 * 1024 * 1024
const UNNAMED_WORKER = 'unknown'

async function executionResponse(
  status: Ended,
  tools: ExecutionTools,
  follower: OperationFollower,
): Promise<ExecutionResponse> {
  const { actionDigest } = follower
  const { end } = status
  const { blobs } = tools.instances(status.instance)
  const report = endStatus(end)
  const result = end.state === 'failed' ? undefined : completeResult(status, actionDigest)
  if (result === 'unreadable') return responseOf(end, { ...report, code: STATUS.internal, message: UNREADABLE })
  if (end.why === 'faults' || end.why === 'hopeless') {
    const missing = await missingInputsStatus(actionDigest, blobs, tools)
    if (missing !== undefined) return responseOf(end, missing)
  }
  const whole = result && (await withRequestedOutputs(result, status, { ...follower, blobs }))
  const hasLog = end.state === 'failed' || end.state === 'timeout'
  const response = responseOf(end, report, whole)
  return hasLog ? { ...response, logs: await serverLogs(status, actionDigest, blobs) } : response
}

const UNREADABLE = 'the result of the worker cannot be read'

const responseOf = (end: OperationEnd, status: StatusReport, result?: Uint8Array): ExecutionResponse => ({
  result,
  cached: end.cached,
  status,
  message: status.code === STATUS.ok ? '' : status.message,
})

/** The result with a worker and all times. Tasks in a journal of an older version may have an unreadable result. */
function completeResult(status: Ended, { fn }: Digest): Uint8Array | 'unreadable' | undefined {
  const { end, worker = UNNAMED_WORKER, queuedAt } = status
  if (end.result === undefined) return undefined
  try {
    // A cached result has the metadata of the attempt that produced it; the server has no other.
    if (end.cached) return withWorker(viewActionResult(end.result, fn), UNNAMED_WORKER)
    const assignedAt = status.assignedAt ?? queuedAt
    const startedAt = status.startedAt ?? assignedAt
    return withAttemptTimes(end.result, { worker, queuedAt, assignedAt, startedAt, endedAt: end.at })
  } catch (error) {
    if (error instanceof FaultError) return 'unreadable'
    throw error
  }
}

interface InlineContext extends OperationFollower {
  readonly blobs: ReturnType<ExecutionTools['instances']>['blobs']
}

/** Blobs that are absent, or too large for the message, are left out: REAPI makes inlining optional. */
async function withRequestedOutputs(
  bytes: Uint8Array,
  { note }: Ended,
  { actionDigest, inline, blobs, call }: InlineContext,
): Promise<Uint8Array> {
  const result = { bytes, fn: actionDigest.fn }
  const requested = note && inlineRequested(result, inline ?? inlineOptionsFromProto(note), MOST_RESULT_BYTES)
  await call.room(requested?.digests.sizes.reduce((sum, size) => sum + size, bytes.length) ?? bytes.length)
  if (requested === undefined || requested.digests.count === 0) return bytes
  return withInlined(result, requested, await readWhole(requested.digests, blobs))
}

/** The gRPC status of an operation that has ended: OK for a command that ran, whatever its exit code. */
function endStatus(end: OperationEnd): StatusReport {
  const code = codeOf(end)
  return { code, message: code === STATUS.ok ? '' : end.what, details: [] }
}

function codeOf(end: OperationEnd): number {
  switch (end.state) {
    case 'completed':
      return end.result === undefined ? STATUS.internal : STATUS.ok
    case 'timeout':
      return STATUS.deadlineExceeded
    case 'cancelled':
      return STATUS.cancelled
    case 'failed':
      return failureCode(end)
  }
}

/** Clients retry after UNAVAILABLE and INTERNAL, and do not after FAILED_PRECONDITION. */
function failureCode({ why }: OperationEnd): number {
  // The workers of all attempts were lost; the task may not be the cause.
  if (why === 'poison') return STATUS.unavailable
  if (why === 'no-worker' || why === 'hopeless') return STATUS.failedPrecondition
  // All attempts of the server are used up; the client may still retry.
  return why === 'faults' ? STATUS.unavailable : STATUS.internal
}
