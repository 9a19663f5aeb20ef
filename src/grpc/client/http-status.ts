import { CONNECTION_LOST, ERROR } from '../http2/wire-format.ts'
import { STATUS, type StatusCode } from '../status.ts'

/** What a client makes of an answer that is not gRPC's: from a proxy, say (the mapping gRPC itself prescribes). */
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

/** What a client makes of a stream that ended without a status. */
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
