import type { Digest, DigestFunction } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import type { ExecutedActionMetadata } from '../../model/action-result.ts'
import { digestFromProto, digestToProto, optionalDigestFromProto } from '../digests/digest.ts'
import { digestFunctionNumber, digestFunctionOf } from '../digests/digest-function.ts'
import * as proto from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { Operation } from '../gen/google/longrunning/operations.ts'
import { Status } from '../gen/google/rpc/status.ts'
import { type StatusReport, statusDetails, statusFromProto } from '../google/status.ts'
import { encoded } from '../messages/encoded.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { fieldLength, putField } from '../messages/message-writer.ts'
import { executionMetadataFromProto, executionMetadataToProto } from './execution-metadata.ts'

/** An Operation of the Execution service: how an action fares, and in the end what came of it. */
export interface ExecutionOperation {
  /** As the client knows it. */
  readonly name: string
  readonly stage: ExecutionStage
  readonly actionDigest: Digest | undefined
  /** What is known by now of who runs it and since when. */
  readonly partial: ExecutedActionMetadata | undefined
  /** Where its output can be followed. */
  readonly streams: { readonly stdout: string; readonly stderr: string } | undefined
  /** Set when the operation has ended, and only then. */
  readonly response: ExecutionResponse | undefined
}

/** In the order of their numbers. */
export const EXECUTION_STAGES = ['unknown', 'cacheCheck', 'queued', 'executing', 'completed'] as const
export type ExecutionStage = (typeof EXECUTION_STAGES)[number]

export interface ExecutionResponse {
  /** A serialised ActionResult: passed on as it came, with what we do not know in it. */
  readonly result: Uint8Array | undefined
  readonly cached: boolean
  /** How the grid fared; a command that exited with 1 is well. */
  readonly status: StatusReport
  /** For people. */
  readonly message: string
  readonly logs?: readonly ServerLog[]
}

/** A blob with what the server has to say of an execution. */
export interface ServerLog {
  /** A plain file name: clients save it under this. */
  readonly name: string
  readonly digest: Digest
  readonly isForPeople: boolean
}

const PREFIX = 'type.googleapis.com/build.bazel.remote.execution.v2.'
const METADATA_TYPE = `${PREFIX}ExecuteOperationMetadata`
const RESPONSE_TYPE = `${PREFIX}ExecuteResponse`

export function executionOperationToProto(operation: ExecutionOperation): Uint8Array {
  const { name, response } = operation
  return encoded(Operation, {
    name,
    metadata: { typeUrl: METADATA_TYPE, value: metadataProto(operation) },
    done: response !== undefined,
    response: response && { typeUrl: RESPONSE_TYPE, value: responseProto(response) },
  })
}

const metadataProto = ({ stage, actionDigest, partial, streams }: ExecutionOperation): Uint8Array =>
  encoded(proto.ExecuteOperationMetadata, {
    stage: EXECUTION_STAGES.indexOf(stage) as proto.ExecutionStage_Value,
    actionDigest: actionDigest && digestToProto(actionDigest),
    stdoutStreamName: streams?.stdout ?? '',
    stderrStreamName: streams?.stderr ?? '',
    partialExecutionMetadata: partial && executionMetadataToProto(partial),
    digestFunction: actionDigest === undefined ? 0 : digestFunctionNumber(actionDigest.fn),
  })

const RESULT_TAG = 0x0a

function responseProto({ result, cached, status, message, logs = [] }: ExecutionResponse): Uint8Array {
  const rest = encoded(proto.ExecuteResponse, {
    result: undefined,
    cachedResult: cached,
    status: Status.decode(statusDetails(status.code, status.message, status.details)),
    serverLogs: Object.fromEntries(
      logs.map(({ name, digest, isForPeople }) => [
        name,
        { digest: digestToProto(digest), humanReadable: isForPeople },
      ]),
    ),
    message,
  })
  if (result === undefined) return rest
  const bytes = Buffer.allocUnsafe(fieldLength(result.length) + rest.length)
  bytes.set(rest, putField(bytes, 0, RESULT_TAG, result))
  return bytes
}

/** For clients. Throws `invalid` for an operation that is not one of the Execution service. */
export function executionOperationFromProto(bytes: Uint8Array): ExecutionOperation {
  const { name, metadata, done, error, response } = Operation.decode(bytes)
  if (error !== undefined) throw invalid(`operation ${name} failed as a whole: ${error.message}`)
  if (metadata !== undefined && metadata.typeUrl !== METADATA_TYPE)
    throw invalid(`operation ${name} is of another kind: ${metadata.typeUrl}`)
  if (done !== (response !== undefined)) throw invalid(`operation ${name} is over without a response`)
  const from = proto.ExecuteOperationMetadata.decode(metadata?.value ?? new Uint8Array())
  const { actionDigest, partialExecutionMetadata: partial, stdoutStreamName, stderrStreamName } = from
  const fn = digestFunctionOf(from.digestFunction, actionDigest?.hash.length ?? 0, 'sha256')
  return {
    name,
    stage: EXECUTION_STAGES.find((_, number) => number === from.stage) ?? 'unknown',
    actionDigest: optionalDigestFromProto(actionDigest, fn),
    partial: partial && executionMetadataFromProto(partial),
    streams:
      stdoutStreamName === '' && stderrStreamName === ''
        ? undefined
        : { stdout: stdoutStreamName, stderr: stderrStreamName },
    response: response && responseOf(response.value, fn),
  }
}

function responseOf(bytes: Uint8Array, fn: DigestFunction): ExecutionResponse {
  const { cachedResult, status, message, serverLogs } = proto.ExecuteResponse.decode(bytes)
  const reader = new MessageReader(bytes, 'ExecuteResponse')
  let result: Uint8Array | undefined
  while (reader.next()) {
    if (reader.field === 1) result = reader.view()
    else reader.skip()
  }
  return {
    result,
    cached: cachedResult,
    status: statusFromProto(Status.encode(status ?? Status.create()).finish()),
    message,
    logs: Object.entries(serverLogs).map(([name, { digest, humanReadable }]) => ({
      name,
      digest: digestFromProto(digest, fn, 'a log of the server'),
      isForPeople: humanReadable,
    })),
  }
}
