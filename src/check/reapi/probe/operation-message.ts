import {
  ExecuteOperationMetadata,
  ExecuteResponse,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { Operation } from '../../../wire/gen/google/longrunning/operations.ts'

const V2 = 'type.googleapis.com/build.bazel.remote.execution.v2'

/** Type URLs that clients compare literally. */
export const METADATA_TYPE = `${V2}.ExecuteOperationMetadata`
export const RESPONSE_TYPE = `${V2}.ExecuteResponse`

/** The stages of an execution, by their numbers. */
export const STAGE = { cacheCheck: 1, queued: 2, executing: 3, completed: 4 } as const
export const STAGE_NAMES: readonly string[] = ['UNKNOWN', 'CACHE_CHECK', 'QUEUED', 'EXECUTING', 'COMPLETED']

/** An Operation message with its metadata and response decoded. */
export interface OperationMessage extends Omit<Operation, 'metadata' | 'response'> {
  readonly metadataType: string
  readonly metadata: ExecuteOperationMetadata
  readonly responseType: string
  readonly response: ExecuteResponse | undefined
}

const NOTHING = new Uint8Array()

export function unpackOperation({ metadata, response, ...rest }: Operation): OperationMessage {
  return {
    ...rest,
    metadataType: metadata?.typeUrl ?? '',
    metadata: ExecuteOperationMetadata.decode(metadata?.value ?? NOTHING),
    responseType: response?.typeUrl ?? '',
    response: response && ExecuteResponse.decode(response.value),
  }
}

export const decodeOperation = (bytes: Uint8Array): OperationMessage => unpackOperation(Operation.decode(bytes))

export const packOperation = ({
  metadataType,
  metadata,
  responseType,
  response,
  ...rest
}: OperationMessage): Operation => ({
  ...rest,
  metadata: { typeUrl: metadataType, value: ExecuteOperationMetadata.encode(metadata).finish() },
  response: response && { typeUrl: responseType, value: ExecuteResponse.encode(response).finish() },
})

export const encodeOperation = (message: OperationMessage): Uint8Array =>
  Operation.encode(packOperation(message)).finish()
