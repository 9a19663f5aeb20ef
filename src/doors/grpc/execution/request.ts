import type { ServerCall } from '../../../grpc/service.ts'
import { REQUEST_METADATA_HEADER, requestMetadataFromProto } from '../../../wire/reapi/request-metadata.ts'

const MOST_INVOCATION_CHARS = 200

/** The build that the call belongs to, as the client names it; empty when its metadata cannot be read. */
export function invocationOf({ metadata }: ServerCall): string {
  const [bytes] = metadata.getBinary(REQUEST_METADATA_HEADER)
  const name = bytes && requestMetadataFromProto(bytes)?.toolInvocationId
  return (name ?? '').slice(0, MOST_INVOCATION_CHARS).toWellFormed()
}
