import { type Fault, FaultError } from '../../base/fault.ts'
import { GrpcError, STATUS, STATUS_NAMES, type StatusCode } from '../../grpc/status.ts'
import { type StatusReport, statusFromProto } from '../../wire/google/status.ts'

/** The retry time for RESOURCE_EXHAUSTED without RetryInfo. */
const RETRY_AFTER_MS = 1000

/**
 * Translates a failure of the upstream for our callers. Its deadline and cancellation errors become `unavailable`,
 * because the caller did not cause them.
 */
export function upstreamFault(error: unknown, signal?: AbortSignal): FaultError {
  if (error instanceof FaultError) return error
  if (signal?.aborted === true) return new FaultError({ kind: 'cancelled', what: 'the reader turned away' }, error)
  if (!(error instanceof GrpcError)) return upstreamUnavailable(`asking the upstream failed: ${error}`, error)
  return new FaultError(faultOf(reportOf(error)), error)
}

/** Translates the status of one blob in a batch. */
export const batchFault = (status: StatusReport): FaultError => new FaultError(faultOf(status))

/** A message that cannot be decoded is an error of the upstream, not of our caller. */
export function understood<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw upstreamUnavailable(
      `the upstream's answer makes no sense: ${error instanceof Error ? error.message : error}`,
      error,
    )
  }
}

export const upstreamUnavailable = (what: string, cause?: unknown): FaultError =>
  new FaultError({ kind: 'unavailable', what }, cause)

/** The fault for bytes that do not match their digest: the upstream is available, but its data is corrupt. */
export const untrue = (what: string): FaultError => new FaultError({ kind: 'bug', what, why: 'data-loss' })

/** Whether to retry. Retries are safe: all calls that are retried are idempotent. */
export const isTransient = (error: unknown): boolean => error instanceof GrpcError && error.code === STATUS.unavailable

export const isAbsence = (error: unknown): boolean => error instanceof GrpcError && error.code === STATUS.notFound

function reportOf(error: GrpcError): StatusReport {
  const plain = { code: error.code, message: error.message, details: [] }
  if (error.details === undefined) return plain
  try {
    return { ...statusFromProto(error.details), code: error.code }
  } catch {
    return plain
  }
}

function faultOf(status: StatusReport): Fault {
  const text = status.message.slice(0, 500)
  const what = `the upstream says ${STATUS_NAMES[status.code] ?? status.code}: ${text}`
  switch (status.code as StatusCode) {
    case STATUS.invalidArgument:
      return { kind: 'invalid', what }
    case STATUS.outOfRange:
      return { kind: 'invalid', what, why: 'range' }
    case STATUS.unimplemented:
      return { kind: 'invalid', what, why: 'unsupported' }
    case STATUS.alreadyExists:
      return { kind: 'invalid', what, why: 'exists' }
    case STATUS.notFound:
      return { kind: 'absent', what }
    case STATUS.permissionDenied:
    case STATUS.unauthenticated:
      return { kind: 'denied', what }
    case STATUS.resourceExhausted:
      return { kind: 'exhausted', resource: `the upstream (${text})`, retryAfterMs: retryAfterMs(status) }
    case STATUS.dataLoss:
      return { kind: 'bug', what, why: 'data-loss' }
    default:
      return { kind: 'unavailable', what }
  }
}

function retryAfterMs({ details }: StatusReport): number {
  for (const detail of details) if (detail.kind === 'RetryInfo') return detail.retryDelayMs
  return RETRY_AFTER_MS
}
