import { FaultError } from '../../../base/fault.ts'
import type { OperationEnd, OperationStatus } from '../../../engine/tasks/status.ts'
import type { ServerCall } from '../../../grpc/service.ts'
import { STATUS } from '../../../grpc/status.ts'
import type { ExecutedActionMetadata, ExecutionTime } from '../../../model/action-result.ts'
import type { TaskState } from '../../../model/task-state.ts'
import type { Timestamp } from '../../../model/timestamp.ts'
import type { ExecutionTools } from '../../../services/execution/execution-tools.ts'
import { missing, missingForAction } from '../../../services/execution/read-action.ts'
import { type Ended, serverLogs } from '../../../services/execution/server-log.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { readWhole } from '../../../storage/read-whole.ts'
import { formatOperationName } from '../../../wire/google/operations.ts'
import { type StatusReport, statusFromProto } from '../../../wire/google/status.ts'
import { viewActionResult, withWorker } from '../../../wire/hot/action-result.ts'
import { inlineWanted, withInlined } from '../../../wire/hot/inline-outputs.ts'
import {
  type ExecutionOperation,
  type ExecutionResponse,
  type ExecutionStage,
  executionOperationToProto,
} from '../../../wire/reapi/execution-operation.ts'
import { timestampOf, withAttemptTimes } from '../../../wire/reapi/execution-result.ts'
import { faultStatusToProto } from '../../../wire/reapi/grpc-fault.ts'
import { type ActionSpec, actionSpecFromProto } from '../../../wire/tasks/action-spec.ts'
import { inlineOptionsFromProto } from '../../../wire/tasks/inline-options.ts'
import { endStatus } from './problem.ts'

const STAGES: Readonly<Record<TaskState, ExecutionStage>> = {
  pending: 'cacheCheck',
  queued: 'queued',
  assigned: 'queued',
  running: 'executing',
  stopping: 'executing',
  retrying: 'queued',
  completed: 'completed',
  failed: 'completed',
  timeout: 'completed',
  cancelled: 'completed',
}

export interface OperationFollower extends Asker {
  /** What the task is to do, for who has read it before: it stays the same from message to message. */
  readonly spec?: ActionSpec
}

/** An Operation message, with everything that came of it when it is over. */
export async function operationMessage(
  status: OperationStatus,
  tools: ExecutionTools,
  asker: OperationFollower,
): Promise<Uint8Array> {
  const spec = asker.spec ?? actionSpecFromProto(status.spec)
  const response = isEnded(status) ? await executionResponse(status, spec, { tools, asker }) : undefined
  return message(status, { spec, tools, response })
}

/** For lists: how it ended, and not what it made. */
export function operationSummary(status: OperationStatus, tools: ExecutionTools): Uint8Array {
  const { end } = status
  const response = end && { result: undefined, cached: end.cached, status: endStatus(end), message: '' }
  return message(status, { spec: actionSpecFromProto(status.spec), tools, response })
}

const isEnded = (status: OperationStatus): status is Ended => status.end !== undefined

interface Parts {
  readonly spec: ActionSpec
  readonly tools: ExecutionTools
  readonly response: ExecutionResponse | undefined
}

function message(status: OperationStatus, { spec, tools, response }: Parts): Uint8Array {
  const named = { instance: status.instance, id: status.operation }
  const operation: ExecutionOperation = {
    name: formatOperationName(named),
    // Its end is told when it is durable, and not before, whatever state the task itself is in.
    stage: response === undefined ? stageOf(status.state) : 'completed',
    actionDigest: spec.actionDigest,
    partial: partialMetadata(status),
    streams: tools.logStreams?.(named),
    response,
  }
  return executionOperationToProto(operation)
}

const stageOf = (state: TaskState): ExecutionStage => (STAGES[state] === 'completed' ? 'executing' : STAGES[state])

function partialMetadata(status: OperationStatus): ExecutedActionMetadata {
  const { worker = '', queuedAt, assignedAt, startedAt } = status
  const times: Partial<Record<ExecutionTime, Timestamp>> = { queued: timestampOf(queuedAt) }
  if (assignedAt !== undefined) times.workerStart = timestampOf(assignedAt)
  if (startedAt !== undefined) times.executionStart = timestampOf(startedAt)
  return { worker, times, virtualDurationMs: undefined, auxiliary: [] }
}

/** What clients take in one message, less some room for the rest of the operation. */
const MOST_RESULT_BYTES = 3 * 1024 * 1024
const UNNAMED_WORKER = 'unknown'

/** To whom it is told: large answers are made only when there is room for them. */
export type Asker = Pick<ServerCall, 'room'>

/** What came of an action, for the client whose operation it is. */
async function executionResponse(
  status: Ended,
  spec: ActionSpec,
  { tools, asker }: { tools: ExecutionTools; asker: Asker },
): Promise<ExecutionResponse> {
  const { end } = status
  const { actionDigest } = spec
  const { instances, limits } = tools
  const { blobs } = instances(status.instance)
  const { fn } = actionDigest
  const told = endStatus(end)
  const result = end.state === 'failed' ? undefined : completeResult(status, fn)
  if (result === 'unreadable') return response(end, { ...told, code: STATUS.internal, message: UNREADABLE })
  if (end.why === 'faults' || end.why === 'hopeless') {
    const lost = await missingNow(() => missingForAction(actionDigest, blobs, limits))
    if (lost !== undefined) {
      tools.recentTrees(blobs).clear()
      return response(end, lost)
    }
  }
  const whole = result && (await inlined({ bytes: result, fn }, status, { blobs, asker }))
  return { ...response(end, told, whole), logs: await serverLogs(status, spec, blobs) }
}

const UNREADABLE = 'the result of the worker cannot be read'

const response = (end: OperationEnd, status: StatusReport, result?: Uint8Array): ExecutionResponse => ({
  result,
  cached: end.cached,
  status,
  message: status.code === STATUS.ok ? '' : status.message,
})

/** What a worker says may be anything: it is looked at before it is passed on. */
function completeResult(status: Ended, fn: ActionSpec['actionDigest']['fn']): Uint8Array | 'unreadable' | undefined {
  const { end, worker = UNNAMED_WORKER, queuedAt } = status
  if (end.result === undefined) return undefined
  try {
    const view = viewActionResult(end.result, fn)
    // A cached result carries its own metadata; the server knows nothing more about it.
    if (end.cached) return withWorker(view, UNNAMED_WORKER)
    const assignedAt = status.assignedAt ?? queuedAt
    const startedAt = status.startedAt ?? assignedAt
    return withAttemptTimes(end.result, { worker, queuedAt, assignedAt, startedAt, endedAt: end.at })
  } catch (error) {
    if (error instanceof FaultError) return 'unreadable'
    throw error
  }
}

/** The worker may have found inputs gone: the client can mend that, if it is told which. */
async function missingNow(look: () => Promise<Parameters<typeof missing>[0]>): Promise<StatusReport | undefined> {
  try {
    const digests = await look()
    return digests.length === 0 ? undefined : statusFromProto(faultStatusToProto(missing(digests)))
  } catch (error) {
    // What the task failed of is told all the same.
    if (error instanceof FaultError) return undefined
    throw error
  }
}

interface ReadResult {
  readonly bytes: Uint8Array
  readonly fn: ActionSpec['actionDigest']['fn']
}

/** A wish: blobs that are gone, or too many, are left out. */
async function inlined(
  into: ReadResult,
  { note }: Ended,
  { blobs, asker }: { blobs: BlobStore; asker: Asker },
): Promise<Uint8Array> {
  const wanted = inlineWanted(into, inlineOptionsFromProto(note), MOST_RESULT_BYTES)
  await asker.room(wanted.digests.sizes.reduce((sum, size) => sum + size, into.bytes.length))
  if (wanted.digests.count === 0) return into.bytes
  return withInlined(into, wanted, await readWhole(wanted.digests, blobs))
}
