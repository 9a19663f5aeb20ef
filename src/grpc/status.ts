import type { Stranger } from './http2/stranger.ts'

/** The gRPC status codes, and the error that contains them. */
export const STATUS = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const

export type StatusCode = (typeof STATUS)[keyof typeof STATUS]

/** The names of the codes in the gRPC documentation, indexed by code. */
export const STATUS_NAMES: readonly string[] = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
]

export interface GrpcErrorInit {
  /** A serialised google.rpc.Status, sent as grpc-status-details-bin. */
  readonly details?: Uint8Array
  readonly trailers?: MetadataInit
  readonly cause?: unknown
  /** No server answered: it cannot be reached, or the connection to it was lost. */
  readonly unanswered?: boolean
  /** The protocol that the peer uses instead of gRPC. */
  readonly stranger?: Stranger | undefined
}

/** Thrown by a handler to end a call with a status, and by the client when a call has failed with one. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError'
  readonly code: StatusCode
  readonly details: Uint8Array | undefined
  readonly trailers: MetadataInit | undefined
  /** Created by the client without a response of a server. */
  readonly unanswered: boolean
  readonly stranger: Stranger | undefined

  constructor(code: StatusCode, message: string, init: GrpcErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause })
    this.code = code
    this.details = init.details
    this.trailers = init.trailers
    this.unanswered = init.unanswered ?? false
    this.stranger = init.stranger
  }
}

/** Metadata of a caller: text, or bytes under a name that ends in -bin. */
export type MetadataInit = Readonly<Record<string, string | Uint8Array | readonly (string | Uint8Array)[]>>
