import { Status } from '../gen/google/rpc/status.ts'
import { detailFromProto, detailToProto, type StatusDetail } from './status-detail.ts'

/** A google.rpc.Status: how a call, or one item of a batch, ended. */
export interface StatusReport {
  /** A gRPC status code; a number that we do not know is passed on. */
  readonly code: number
  readonly message: string
  readonly details: readonly StatusDetail[]
}

/** The bytes for grpc-status-details-bin. They repeat code and message: clients ignore details that disagree. */
export const statusDetails = (code: number, message: string, details: readonly StatusDetail[]): Uint8Array =>
  Status.encode({ code, message, details: details.map(detailToProto) }).finish()

export function statusFromProto(bytes: Uint8Array): StatusReport {
  const { code, message, details } = Status.decode(bytes)
  return { code, message, details: details.map(detailFromProto) }
}
