import { invalid } from '../../base/fault.ts'
import {
  FindStageRequest,
  FindStageResponse,
  KeepStageRequest,
  KeepStageResponse,
} from '../gen/windlass/worker/v1/worker.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'

/** Names the result of the first stage of a task that a worker holds. */
export interface StageQuestion {
  readonly worker: string
  readonly attemptId: string
  /** Everything outside the task that changes the result of the stage. */
  readonly conditions: string
}

export interface KeptStage extends StageQuestion {
  /** A serialised ActionResult. */
  readonly result: Uint8Array
}

const MOST_CONDITIONS = 4096

export const stageQuestionToProto = ({ worker, attemptId, conditions }: StageQuestion): Uint8Array =>
  FindStageRequest.encode({ workerId: worker, taskId: attemptId, conditions }).finish()

export function stageQuestionFromProto(bytes: Uint8Array): StageQuestion {
  const named = { name: 'FindStageRequest', shape: { 1: 'text', 2: 'text', 3: 'text' } } as const
  const { workerId, taskId, conditions } = decodeWellFormed(FindStageRequest, bytes, named)
  return { worker: workerId, attemptId: taskId, conditions: mustBeConditions(conditions) }
}

export const foundStageToProto = (result: Uint8Array | undefined): Uint8Array =>
  FindStageResponse.encode({ result }).finish()

export const foundStageFromProto = (bytes: Uint8Array): Uint8Array | undefined =>
  decodeWellFormed(FindStageResponse, bytes, { name: 'FindStageResponse', shape: { 1: 'bytes' } }).result

export const keptStageToProto = ({ worker, attemptId, conditions, result }: KeptStage): Uint8Array =>
  KeepStageRequest.encode({ workerId: worker, taskId: attemptId, conditions, result }).finish()

export function keptStageFromProto(bytes: Uint8Array): KeptStage {
  const named = { name: 'KeepStageRequest', shape: { 1: 'text', 2: 'text', 3: 'text', 4: 'bytes' } } as const
  const { workerId, taskId, conditions, result } = decodeWellFormed(KeepStageRequest, bytes, named)
  return { worker: workerId, attemptId: taskId, conditions: mustBeConditions(conditions), result }
}

export const stageTaken = (): Uint8Array => KeepStageResponse.encode({}).finish()

export function mustBeConditions(conditions: string): string {
  if (conditions.length > MOST_CONDITIONS)
    throw invalid(`conditions: ${conditions.length} characters, the limit is ${MOST_CONDITIONS}`, 'range')
  return conditions
}
