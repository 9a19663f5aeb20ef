import type { Digest } from '../../../base/digest.ts'
import { FaultError } from '../../../base/fault.ts'
import { missing, missingForAction } from '../../../services/execution/execute-action.ts'
import type { ExecutionTools } from '../../../services/execution/execution-tools.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { type StatusReport, statusFromProto } from '../../../wire/google/status.ts'
import { type ExecuteRequest, executionOperationToProto } from '../../../wire/reapi/execution.ts'
import { faultStatusToProto } from '../../../wire/reapi/grpc-fault.ts'
import { formatOperationName } from '../../../wire/reapi/operation-name.ts'

/** The trailers of a call can name this many digests, whatever the digest function. */
const MOST_IN_TRAILERS = 32

/** A refusal that names more missing blobs than the trailers of a call can hold. */
export const isLongRefusal = (error: unknown): error is FaultError =>
  error instanceof FaultError && error.fault.kind === 'missing' && error.fault.digests.length > MOST_IN_TRAILERS

/**
 * Encodes a refusal as an operation that has already ended. A message can list all missing blobs; with trailers the
 * client would have to retry once per 32 blobs. The operation is not stored, so no other call finds it.
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

/**
 * After a failed task, returns the status that lists its missing inputs, if they caused the failure. The client can
 * upload them and retry.
 */
export async function missingInputsStatus(
  actionDigest: Digest,
  blobs: BlobStore,
  { limits, recentTrees }: ExecutionTools,
): Promise<StatusReport | undefined> {
  try {
    const digests = await missingForAction(actionDigest, blobs, limits)
    if (digests.length === 0) return undefined
    recentTrees(blobs).clear()
    return statusFromProto(faultStatusToProto(missing(digests)))
  } catch (error) {
    // The failure of the task itself is still reported.
    if (error instanceof FaultError) return undefined
    throw error
  }
}
