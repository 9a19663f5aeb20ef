import type { OperationStatus } from '../../../engine/tasks/status.ts'
import type { ExecutedActionMetadata, ExecutionTime } from '../../../model/action-result.ts'
import type { TaskState } from '../../../model/task-state.ts'
import type { Timestamp } from '../../../model/timestamp.ts'
import type { ExecutionTools } from '../../../services/execution/execution-tools.ts'
import type { Ended } from '../../../services/execution/server-log.ts'
import { formatOperationName } from '../../../wire/google/operations.ts'
import {
  type ExecutionOperation,
  type ExecutionResponse,
  type ExecutionStage,
  executionOperationToProto,
} from '../../../wire/reapi/execution-operation.ts'
import { timestampOf } from '../../../wire/reapi/execution-result.ts'
import { type ActionSpec, actionSpecFromProto } from '../../../wire/tasks/action-spec.ts'
import { endStatus } from './end-status.ts'
import { type Asker, executionResponse } from './response.ts'

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

export interface Listening extends Asker {
  /** What the task is to do, for who has read it before: it stays the same from message to message. */
  readonly spec?: ActionSpec
}

/** An Operation message, with everything that came of it when it is over. */
export async function operationMessage(
  status: OperationStatus,
  tools: ExecutionTools,
  asker: Listening,
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
