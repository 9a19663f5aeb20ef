import { FaultError } from '../../../base/fault.ts'
import type { OperationEnd } from '../../../engine/tasks/status.ts'
import { STATUS } from '../../../grpc/status.ts'
import { formatOperationName } from '../../../wire/google/operations.ts'
import { type StatusReport, statusFromProto } from '../../../wire/google/status.ts'
import { executionOperationToProto } from '../../../wire/reapi/execution-operation.ts'
import type { ExecuteRequest } from '../../../wire/reapi/execution-request.ts'
import { faultStatusToProto } from '../../../wire/reapi/grpc-fault.ts'

/** As many as the trailers of a call hold for sure, whatever the digest function. */
const MOST_IN_TRAILERS = 32

/** Says that more blobs are missing than the trailers of a call could name. */
export const isLongRefusal = (error: unknown): error is FaultError =>
  error instanceof FaultError && error.fault.kind === 'missing' && error.fault.digests.length > MOST_IN_TRAILERS

/**
 * A refusal as the end of an operation that never was: a message has room for all the blobs that a client should send,
 * where it would otherwise have to ask once for each few of them. Nobody can ask after it, nor needs to.
 */
export function refusedOperation({ instance, actionDigest }: ExecuteRequest, error: FaultError): Uint8Array {
  const status = statusFromProto(faultStatusToProto(error))
  return executionOperationToProto({
    name: formatOperationName({ instance, id: `refused-${actionDigest.hash}` }),
    stage: 'completed',
    actionDigest,
    partial: undefined,
    streams: undefined,
    response: { result: undefined, cached: false, status, message: error.message },
  })
}

/** How the grid fared with a task, in the words of the protocol. A command that exited with 1 is well. */
export function endStatus(end: OperationEnd): StatusReport {
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

/** Clients try again what is UNAVAILABLE or INTERNAL, and not what is a FAILED_PRECONDITION. */
function failureCode({ why }: OperationEnd): number {
  // It was lost together with its workers, which may not be its doing.
  if (why === 'poison') return STATUS.unavailable
  if (why === 'no-worker' || why === 'hopeless') return STATUS.failedPrecondition
  // Tried as often as it may be; clients may try again themselves.
  return why === 'faults' ? STATUS.unavailable : STATUS.internal
}
