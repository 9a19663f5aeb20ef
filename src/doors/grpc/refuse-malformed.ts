import { GrpcError, STATUS } from '../../grpc/status.ts'

/**
 * Returns INVALID_ARGUMENT when the caller's bytes cannot be decoded. The caller made the mistake, so it must not count
 * as a bug of the server.
 */
export const refusingMalformed =
  <T>(decode: (bytes: Uint8Array) => T) =>
  (bytes: Uint8Array): T => {
    try {
      return decode(bytes)
    } catch (cause) {
      throw new GrpcError(STATUS.invalidArgument, 'malformed request message', { cause })
    }
  }
