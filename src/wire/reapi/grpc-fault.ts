import type { BugWhy, DeniedWhy, ExhaustedWhy, Fault, FaultError, InvalidWhy } from '../../base/fault.ts'
import type { StatusDetail } from '../google/status.ts'
import { statusDetails } from '../google/status.ts'
import { blobName } from './resource-name.ts'

/** The gRPC code of each fault. Both tables are total: a new kind or why does not compile without its code. */
export const GRPC_CODE = {
  cancelled: 1,
  invalid: 3,
  late: 4,
  absent: 5,
  denied: 7,
  exhausted: 8,
  missing: 9,
  bug: 13,
  unavailable: 14,
} as const satisfies Record<Fault['kind'], number>

const WHY_CODE = {
  exists: 6,
  queue: 8,
  disk: 8,
  range: 11,
  unsupported: 12,
  'data-loss': 15,
  'unknown-caller': 16,
} as const satisfies Record<InvalidWhy | DeniedWhy | ExhaustedWhy | BugWhy, number>

export type FaultCode = (typeof GRPC_CODE)[keyof typeof GRPC_CODE] | (typeof WHY_CODE)[keyof typeof WHY_CODE]

export interface FaultStatus {
  readonly code: FaultCode
  readonly message: string
  /** A serialised google.rpc.Status for grpc-status-details-bin, when there are details beside code and message. */
  readonly details?: Uint8Array
}

export function faultStatus(error: FaultError): FaultStatus {
  const { fault, message } = error
  const code = codeOf(fault)
  const detail = detailOf(fault)
  return detail === undefined ? { code, message } : { code, message, details: statusDetails(code, message, [detail]) }
}

/** The fault as a google.rpc.Status: for one item of a batch, or inside a response. */
export function faultStatusToProto(error: FaultError): Uint8Array {
  const detail = detailOf(error.fault)
  return statusDetails(codeOf(error.fault), error.message, detail === undefined ? [] : [detail])
}

const codeOf = (fault: Fault): FaultCode =>
  'why' in fault && fault.why !== undefined ? WHY_CODE[fault.why] : GRPC_CODE[fault.kind]

/** At most one detail: some clients fail on a second one. */
function detailOf(fault: Fault): StatusDetail | undefined {
  if (fault.kind === 'exhausted') return { kind: 'RetryInfo', retryDelayMs: fault.retryAfterMs }
  if (fault.kind !== 'missing') return undefined
  const violations = fault.digests.map((digest) => ({ type: 'MISSING', subject: blobName(digest), description: '' }))
  return { kind: 'PreconditionFailure', violations }
}
