import { FaultError } from '../../base/fault.ts'
import { addressName } from '../../grpc/address.ts'
import type { Refusal } from '../../grpc/client/channel.ts'
import type { Stranger } from '../../grpc/http2/stranger.ts'
import { GrpcError, STATUS, STATUS_NAMES } from '../../grpc/status.ts'
import type { Target } from './target.ts'

/** Reasons: no server answered; it does not implement this service; it does not know the name; anything else. */
type ServerFaultKind = 'unreached' | 'unoffered' | 'unknown-name' | 'other'

/** The message for the user about a server's response, or that no server answered. */
export class ServerFault extends FaultError {
  readonly server: ServerFaultKind

  constructor(error: GrpcError, target: Target) {
    const server = kindOf(error)
    super({ kind: 'unavailable', what: `${target.text}: ${wordsFor(server, error)}` }, error)
    this.server = server
  }
}

/** Errors that do not come from a server are passed on unchanged. */
export const serverFault = (error: unknown, target: Target): unknown =>
  error instanceof GrpcError ? new ServerFault(error, target) : error

/** The error for a server that refused the connection. */
export const unreached = (target: Target, { refusal, stranger }: Refusal): ServerFault => {
  const words = `cannot connect to ${addressName(target.address)}: ${refusal}`
  return new ServerFault(new GrpcError(STATUS.unavailable, words, { unanswered: true, stranger }), target)
}

function kindOf({ code, unanswered }: GrpcError): ServerFaultKind {
  if (unanswered) return 'unreached'
  if (code === STATUS.unimplemented) return 'unoffered'
  return code === STATUS.notFound ? 'unknown-name' : 'other'
}

/** Advice for a server that speaks another protocol than expected. */
const NEXT: Readonly<Record<Stranger | 'tls-trust', string>> = {
  http: '--server takes the address of the gRPC port, or either one as http://host:port',
  tls: 'name it as grpcs://host:port or https://host:port',
  plain: 'name it as grpc://host:port or http://host:port',
  'tls-trust': '--ca names the certificates to trust; --cert and --key are the client certificate',
}

function wordsFor(kind: ServerFaultKind, { code, message, stranger }: GrpcError): string {
  if (kind === 'unreached' && (stranger !== undefined || /certificate/.test(message)))
    return `${message}\n${NEXT[stranger ?? 'tls-trust']}`
  if (kind === 'unreached')
    return `${message}\nis a server running there? "windlass server" starts one, and --server names another`
  if (kind === 'unoffered') return `the server does not offer this (${message || 'UNIMPLEMENTED'})`
  if (code === STATUS.unauthenticated || code === STATUS.permissionDenied)
    return `the server refused us: ${message} (authenticate with --header, or with --cert and --key)`
  if (code === STATUS.resourceExhausted) return `the server has no room: ${message}`
  if (code === STATUS.alreadyExists || code === STATUS.notFound) return message
  return `${STATUS_NAMES[code] ?? code}: ${message}`
}

/** Decodes a message of the server. A message that cannot be decoded is an error of the server, not of the caller. */
export const fromServer =
  <T>(decode: (bytes: Uint8Array) => T) =>
  (bytes: Uint8Array): T => {
    try {
      return decode(bytes)
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
      throw new FaultError({ kind: 'bug', what: `the server sent an invalid response: ${error.message}` }, error)
    }
  }
