import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { type DigestFunction, digestFunctionByNumber } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import { digestFunctionNumber } from '../digests/digest.ts'
import { DigestFunction_Value } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { FailureReason, TaskStatus, UpdateTaskStatusRequest } from '../gen/expbuild/worker/v1/worker_api.ts'
import { ReportOutputRequest } from '../gen/windlass/worker/v1/worker.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'

/** The report of a worker about an attempt. */
export interface TaskUpdate {
  readonly worker: string
  readonly attemptId: string
  readonly what: AttemptState
}

/** Results are serialised ActionResults and keep their unknown fields. */
export type AttemptState =
  | { readonly kind: 'started' }
  | {
      readonly kind: 'result'
      readonly result: Uint8Array | undefined
      readonly fn: DigestFunction | undefined
      /** The signal that ended the command; used inside the worker and not sent. */
      readonly signal?: string | undefined
    }
  | {
      readonly kind: 'timeout'
      readonly result: Uint8Array | undefined
      readonly fn: DigestFunction | undefined
    }
  | { readonly kind: 'stopped' }
  | {
      readonly kind: 'returned'
      readonly what: string
      /** The worker had no free slot for the attempt. */
      readonly noSlot?: boolean
    }
  | { readonly kind: 'fault'; readonly what: string; readonly hopeless: boolean }

const RESULT_TAG = (4 << 3) | 2

export function taskUpdateToProto({ worker, attemptId, what }: TaskUpdate): Uint8Array {
  const result = 'result' in what ? what.result : undefined
  const fn = 'fn' in what ? what.fn : undefined
  const writer = UpdateTaskStatusRequest.encode(
    {
      taskId: attemptId,
      workerId: worker,
      status: STATUS_OF[what.kind],
      result: undefined,
      errorMessage: 'what' in what ? what.what : '',
      reason: reasonOf(what),
      digestFunction: fn === undefined ? DigestFunction_Value.UNKNOWN : digestFunctionNumber(fn),
      noFreeSlot: what.kind === 'returned' && what.noSlot === true,
    },
    new BinaryWriter(),
  )
  if (result !== undefined) writer.uint32(RESULT_TAG).bytes(result)
  return writer.finish()
}

const STATUS_OF = {
  started: TaskStatus.EXECUTING,
  result: TaskStatus.COMPLETED,
  timeout: TaskStatus.FAILED,
  stopped: TaskStatus.FAILED,
  returned: TaskStatus.FAILED,
  fault: TaskStatus.FAILED,
} as const satisfies Record<AttemptState['kind'], TaskStatus>

function reasonOf(state: AttemptState): FailureReason {
  if (state.kind === 'timeout') return FailureReason.TIMED_OUT
  if (state.kind === 'stopped') return FailureReason.STOPPED
  if (state.kind === 'returned') return FailureReason.RETURNED
  return state.kind === 'fault' && state.hopeless ? FailureReason.HOPELESS : FailureReason.FAULT
}

/** Decoded by hand: the result stays serialised, so that its unknown fields survive. */
export function taskUpdateFromProto(bytes: Uint8Array): TaskUpdate {
  const reader = new MessageReader(bytes, 'UpdateTaskStatusRequest')
  const fields = {
    worker: '',
    attemptId: '',
    status: 0,
    results: [] as Uint8Array[],
    error: '',
    reason: 0,
    fn: 0,
    noSlot: 0,
  }
  while (reader.next()) {
    if (reader.field === 1) fields.attemptId = reader.text()
    else if (reader.field === 2) fields.worker = reader.text()
    else if (reader.field === 3) fields.status = reader.int32()
    else if (reader.field === 4) fields.results.push(reader.view())
    else if (reader.field === 5) fields.error = reader.text()
    else if (reader.field === 100) fields.reason = reader.int32()
    else if (reader.field === 101) fields.fn = reader.int32()
    else if (reader.field === 102) fields.noSlot = reader.int32()
    else reader.skip()
  }
  return { worker: fields.worker, attemptId: fields.attemptId, what: stateOf(fields) }
}

interface ReportFields {
  readonly status: number
  readonly results: readonly Uint8Array[]
  readonly error: string
  readonly reason: number
  readonly fn: number
  readonly noSlot: number
}

function stateOf({ status, results, error, reason, fn: number, noSlot }: ReportFields): AttemptState {
  const [only] = results
  const result = results.length < 2 ? only : Buffer.concat(results) // protobuf merges a message field that occurs twice
  const fn = digestFunctionByNumber(number)
  if (status === TaskStatus.EXECUTING) return { kind: 'started' }
  if (status === TaskStatus.COMPLETED) return { kind: 'result', result, fn }
  if (status !== TaskStatus.FAILED) throw invalid(`status ${status} is not the status of a task`)
  if (reason === FailureReason.TIMED_OUT) return { kind: 'timeout', result, fn }
  if (reason === FailureReason.STOPPED) return { kind: 'stopped' }
  if (reason === FailureReason.RETURNED) return { kind: 'returned', what: error, ...(noSlot !== 0 && { noSlot: true }) }
  return { kind: 'fault', what: error, hopeless: reason === FailureReason.HOPELESS }
}

/** A piece of the output of a running command. */
export interface StreamOutputPiece {
  readonly worker: string
  readonly attemptId: string
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
  /** Offset of the piece in the stream; undefined when the worker does not count bytes. */
  readonly at: number | undefined
}

export const outputPieceToProto = ({ worker, attemptId, stream, bytes, at }: StreamOutputPiece): Uint8Array =>
  ReportOutputRequest.encode({
    workerId: worker,
    taskId: attemptId,
    data: bytes,
    isError: stream === 'stderr',
    offset: at,
  }).finish()

export function outputPieceFromProto(message: Uint8Array): StreamOutputPiece {
  const named = {
    name: 'ReportOutputRequest',
    shape: { 1: 'text', 2: 'text', 3: 'bytes', 4: 'number', 5: 'number' },
  } as const
  const { workerId, taskId, data, isError, offset } = decodeWellFormed(ReportOutputRequest, message, named)
  if (taskId === '') throw invalid('a piece of output has no task_id')
  if (offset !== undefined && offset < 0) throw invalid('a piece of output has a negative offset')
  return { worker: workerId, attemptId: taskId, stream: isError ? 'stderr' : 'stdout', bytes: data, at: offset }
}
