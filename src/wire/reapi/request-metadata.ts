import type { RequestMetadata } from '../../model/request-metadata.ts'
import { RequestMetadata as RequestMetadataProto } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'

/** The header that carries it, on any call. */
export const REQUEST_METADATA_HEADER = 'build.bazel.remote.execution.v2.requestmetadata-bin'

const METADATA = {
  name: 'RequestMetadata',
  shape: { 1: { 1: 'text', 2: 'text' }, 2: 'text', 3: 'text', 4: 'text', 5: 'text', 6: 'text', 7: 'text' },
} as const

/** Undefined for anything that cannot be read: it only ever informs, and must not fail a call. */
export function requestMetadataFromProto(bytes: Uint8Array): RequestMetadata | undefined {
  try {
    const { toolDetails, ...rest } = decodeWellFormed(RequestMetadataProto, bytes, METADATA)
    return { toolName: toolDetails?.toolName ?? '', toolVersion: toolDetails?.toolVersion ?? '', ...rest }
  } catch {
    return undefined
  }
}

export function requestMetadataToProto({ toolName, toolVersion, ...rest }: RequestMetadata): Uint8Array {
  return RequestMetadataProto.encode({ toolDetails: { toolName, toolVersion }, ...rest }).finish()
}
