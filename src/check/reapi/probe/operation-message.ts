import {
  ExecuteOperationMetadata,
  ExecuteResponse,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { Operation } from '../../../wire/gen/google/longrunning/operations.ts'

const V2 = 'type.googleapis.com/build.bazel.remote.execution.v2'

/** What clients look for, letter by letter. */
export const METADATA_TYPE = `${V2}.ExecuteOperationMetadata`
export const RESPONSE_TYPE = `${V2}.ExecuteResponse`

/** The stages of an execution, by their numbers. */
export const STAGE = { cacheCheck: 1, queued: 2, executing: 3, completed: 4 } as const
export const STAGE_NAMES: readonly string[] = ['UNKNOWN', 'CACHE_CHECK', 'QUEUED', 'EXECUTING', 'COMPLETED']

/** What a server tells of an execution: an Operation, with what is packed in it. */
export interface Told extends Omit<Operation, 'metadata' | 'response'> {
  readonly metadataType: string
  readonly metadata: ExecuteOperationMetadata
  readonly responseType: string
  readonly response: ExecuteResponse | undefined
}

const NOTHING = new Uint8Array()

export function toldOf({ metadata, response, ...rest }: Operation): Told {
  return {
    ...rest,
    metadataType: metadata?.typeUrl ?? '',
    metadata: ExecuteOperationMetadata.decode(metadata?.value ?? NOTHING),
    responseType: response?.typeUrl ?? '',
    response: response && ExecuteResponse.decode(response.value),
  }
}

export const readTold = (bytes: Uint8Array): Told => toldOf(Operation.decode(bytes))

export const operationOf = ({ metadataType, metadata, responseType, response, ...rest }: Told): Operation => ({
  ...rest,
  metadata: { typeUrl: metadataType, value: ExecuteOperationMetadata.encode(metadata).finish() },
  response: response && { typeUrl: responseType, value: ExecuteResponse.encode(response).finish() },
})

export const toldBytes = (told: Told): Uint8Array => Operation.encode(operationOf(told)).finish()
