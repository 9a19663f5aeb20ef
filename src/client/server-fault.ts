import { FaultError } from '../base/fault.ts'
import { GrpcError, STATUS, STATUS_NAMES } from '../grpc/status.ts'
import type { Target } from './target.ts'

/** Says what a server answered, or that there is none, to the person who named it; anything else is passed on. */
export function serverFault(error: unknown, target: Target): unknown {
  if (!(error instanceof GrpcError)) return error
  return new FaultError({ kind: 'unavailable', what: `${target.text}: ${wordsFor(error)}` }, error)
}

function wordsFor({ code, message }: GrpcError): string {
  if (code === STATUS.unavailable && /^(cannot connect|connecting|the connection)/.test(message))
    return `${message}\nis a server running there? "windlass server" starts one, and --server names another`
  if (code === STATUS.unimplemented) return `the server does not offer this (${message || 'UNIMPLEMENTED'})`
  if (code === STATUS.unauthenticated || code === STATUS.permissionDenied)
    return `the server refused us: ${message} (--header, --cert and --key say who we are)`
  if (code === STATUS.resourceExhausted) return `the server has no room: ${message}`
  if (code === STATUS.alreadyExists || code === STATUS.notFound) return message
  return `${STATUS_NAMES[code] ?? code}: ${message}`
}

/** Reads what a server sent. That it cannot be read is the server's mistake, not that of whoever asked. */
export const fromServer =
  <T>(decode: (bytes: Uint8Array) => T) =>
  (bytes: Uint8Array): T => {
    try {
      return decode(bytes)
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
      throw new FaultError({ kind: 'bug', what: `the server sent what cannot be: ${error.message}` }, error)
    }
  }
