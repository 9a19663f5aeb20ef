import { CONNECTION_LOST, ERROR } from '../http2/wire-format.ts'
import { STATUS, type StatusCode } from '../status.ts'

/** The gRPC status for an HTTP status without one, for example from a proxy (the mapping that gRPC prescribes). */
export function statusFromHttp(http: number): StatusCode {
  switch (http) {
    case 400:
      return STATUS.internal
    case 401:
      return STATUS.unauthenticated
    case 403:
      return STATUS.permissionDenied
    case 404:
      return STATUS.unimplemented
    case 429:
    case 502:
    case 503:
    case 504:
      return STATUS.unavailable
    default:
      return STATUS.unknown
  }
}

/** The gRPC status for a stream that ended without one. */
export function statusFromReset(code: number): StatusCode {
  switch (code) {
    case CONNECTION_LOST:
    case ERROR.refusedStream:
      return STATUS.unavailable
    case ERROR.cancel:
      return STATUS.cancelled
    case ERROR.enhanceYourCalm:
      return STATUS.resourceExhausted
    case ERROR.inadequateSecurity:
      return STATUS.permissionDenied
    default:
      return STATUS.internal
  }
}
