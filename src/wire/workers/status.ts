import { BinaryWriter } from '@bufbuild/protobuf/wire'
import type { DigestFunction } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import { digestFunctionNumber, knownFunction } from '../digests/digest-function.ts'
import { DigestFunction_Value } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { FailureReason, TaskStatus, UpdateTaskStatusRequest } from '../gen/expbuild/worker/v1/worker_api.ts'
import { MessageReader } from '../messages/message-reader.ts'

/** What a worker says about an attempt. */
export interface TaskUpdate {
  readonly worker: string
  readonly attemptId: string
  readonly what: TaskNews
}

/** Results are serialised ActionResults, passed on as they came. */
export type TaskNews =
  | { readonly kind: 'started' }
  | {
      readonly kind: 'result'
      readonly result: Uint8Array | undefined
      readonly fn: DigestFunction | undefined
      /** For the worker itself: the signal that ended the command. It is not sent. */
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
      /** The worker had no slot free for it. */
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
} as const satisfies Record<TaskNews['kind'], TaskStatus>

function reasonOf(news: TaskNews): FailureReason {
  if (news.kind === 'timeout') return FailureReason.TIMED_OUT
  if (news.kind === 'stopped') return FailureReason.STOPPED
  if (news.kind === 'returned') return FailureReason.RETURNED
  return news.kind === 'fault' && news.hopeless ? FailureReason.HOPELESS : FailureReason.FAULT
}

/** By hand: the result is to stay the bytes that it is, with whatever its maker put in that we do not know. */
export function taskUpdateFromProto(bytes: Uint8Array): TaskUpdate {
  const reader = new MessageReader(bytes, 'UpdateTaskStatusRequest')
  const said = {
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
    if (reader.field === 1) said.attemptId = reader.text()
    else if (reader.field === 2) said.worker = reader.text()
    else if (reader.field === 3) said.status = reader.int32()
    else if (reader.field === 4) said.results.push(reader.view())
    else if (reader.field === 5) said.error = reader.text()
    else if (reader.field === 100) said.reason = reader.int32()
    else if (reader.field === 101) said.fn = reader.int32()
    else if (reader.field === 102) said.noSlot = reader.int32()
    else reader.skip()
  }
  return { worker: said.worker, attemptId: said.attemptId, what: newsOf(said) }
}

interface Said {
  readonly status: number
  readonly results: readonly Uint8Array[]
  readonly error: string
  readonly reason: number
  readonly fn: number
  readonly noSlot: number
}

function newsOf({ status, results, error, reason, fn: number, noSlot }: Said): TaskNews {
  const [only] = results
  const result = results.length < 2 ? only : Buffer.concat(results) // of a message that comes twice, the two are merged so
  const [fn] = knownFunction(number as DigestFunction_Value)
  if (status === TaskStatus.EXECUTING) return { kind: 'started' }
  if (status === TaskStatus.COMPLETED) return { kind: 'result', result, fn }
  if (status !== TaskStatus.FAILED) throw invalid(`status ${status} says nothing about a task`)
  if (reason === FailureReason.TIMED_OUT) return { kind: 'timeout', result, fn }
  if (reason === FailureReason.STOPPED) return { kind: 'stopped' }
  if (reason === FailureReason.RETURNED) return { kind: 'returned', what: error, ...(noSlot !== 0 && { noSlot: true }) }
  return { kind: 'fault', what: error, hopeless: reason === FailureReason.HOPELESS }
}
