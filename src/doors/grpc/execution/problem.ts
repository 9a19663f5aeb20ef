import { FaultError } from '../../../base/fault.ts'
import { formatOperationName } from '../../../wire/google/operations.ts'
import { statusFromProto } from '../../../wire/google/status.ts'
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
