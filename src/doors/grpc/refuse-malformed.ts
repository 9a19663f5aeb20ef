import { GrpcError, STATUS } from '../../grpc/status.ts'

/** Answers INVALID_ARGUMENT when the caller's bytes cannot be read: its mistake, so it must not count as our bug. */
export const refusingMalformed =
  <T>(decode: (bytes: Uint8Array) => T) =>
  (bytes: Uint8Array): T => {
    try {
      return decode(bytes)
    } catch (cause) {
      throw new GrpcError(STATUS.invalidArgument, 'malformed request message', { cause })
    }
  }
