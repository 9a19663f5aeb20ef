import type { Digest, DigestFunction } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import { type InstanceName, instanceNameProblem } from '../../model/instance-name.ts'
import type { RequestMetadata } from '../../model/request-metadata.ts'
import type { Timestamp } from '../../model/timestamp.ts'
import {
  DIGEST_SHAPE,
  digestFromProto,
  digestFunctionNumber,
  digestFunctionOf,
  digestToProto,
  optionalDigestFromProto,
  sha256Unnamed,
  type UnnamedFunction,
} from '../digests/digest.ts'
import * as proto from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { Operation } from '../gen/google/longrunning/operations.ts'
import { detailFromProto, detailToProto, type StatusReport } from '../google/status.ts'
import { durationFromProto, timestampOf } from '../google/time.ts'
import type { InlineOptions } from '../hot/inline-outputs.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { encoded, fieldLength, putField } from '../messages/message-writer.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'

/** The messages of the Execution service: Execute, WaitExecution and the Operation that both stream. */
export interface ExecuteRequest {
  readonly instance: InstanceName
  readonly actionDigest: Digest
  /** Run the action even when the action cache has a result. */
  readonly skipCacheLookup: boolean
  /** A lower number is scheduled earlier. */
  readonly priority: number
  /** How long the cache should keep the result: a lower number means longer. */
  readonly cachePriority: number
  readonly inline: InlineOptions
}

const POLICY: Shape = { 1: 'number' }
const SHAPE: Shape = {
  1: 'text',
  3: 'number',
  6: DIGEST_SHAPE,
  7: POLICY,
  8: POLICY,
  9: 'number',
  10: 'number',
  11: 'number',
  12: 'text',
}

export function executeRequestFromProto(bytes: Uint8Array, unnamed: UnnamedFunction = sha256Unnamed): ExecuteRequest {
  const from = decodeWellFormed(proto.ExecuteRequest, bytes, { name: 'ExecuteRequest', shape: SHAPE })
  const instance = from.instanceName
  const problem = instanceNameProblem(instance)
  if (problem !== undefined) throw invalid(`the instance name ${problem}`)
  const fn = digestFunctionOf(from.digestFunction, from.actionDigest?.hash.length ?? 0, unnamed(instance))
  const { inlineStdout, inlineStderr, inlineOutputFiles } = from
  return {
    instance,
    actionDigest: digestFromProto(from.actionDigest, fn, 'the action'),
    skipCacheLookup: from.skipCacheLookup,
    priority: from.executionPolicy?.priority ?? 0,
    cachePriority: from.resultsCachePolicy?.priority ?? 0,
    inline: { inlineStdout, inlineStderr, inlineOutputFiles },
  }
}

export const executeRequestToProto = (request: ExecuteRequest): Uint8Array =>
  proto.ExecuteRequest.encode({
    instanceName: request.instance,
    skipCacheLookup: request.skipCacheLookup,
    actionDigest: digestToProto(request.actionDigest),
    executionPolicy: { priority: request.priority },
    resultsCachePolicy: { priority: request.cachePriority },
    digestFunction: digestFunctionNumber(request.actionDigest.fn),
    ...request.inline,
  }).finish()

/** Decodes a WaitExecutionRequest. Its only field is the operation name. */
export const waitExecutionRequestFromProto = (bytes: Uint8Array): string =>
  decodeWellFormed(proto.WaitExecutionRequest, bytes, { name: 'WaitExecutionRequest', shape: { 1: 'text' } }).name

export const waitExecutionRequestToProto = (name: string): Uint8Array =>
  proto.WaitExecutionRequest.encode({ name }).finish()

/** An Operation of the Execution service: the state of an action and, when it has ended, its result. */
export interface ExecutionOperation {
  /** `[instance/]operations/id` */
  readonly name: string
  readonly stage: ExecutionStage
  readonly actionDigest: Digest | undefined
  /** The worker and the times that are known so far. */
  readonly partial: ExecutionProgress | undefined
  /** ByteStream names of the live output. */
  readonly streams: { readonly stdout: string; readonly stderr: string } | undefined
  /** Set when the operation has ended, and only then. */
  readonly response: ExecutionResponse | undefined
}

/** Times are milliseconds since 1970. */
export interface ExecutionProgress {
  readonly worker: string | undefined
  readonly queuedAt: number | undefined
  readonly assignedAt: number | undefined
  readonly startedAt: number | undefined
}

/** In the order of their enum numbers. */
export const EXECUTION_STAGES = ['unknown', 'cacheCheck', 'queued', 'executing', 'completed'] as const
export type ExecutionStage = (typeof EXECUTION_STAGES)[number]

export interface ExecutionResponse {
  /** A serialised ActionResult, with the unknown fields that its worker set. */
  readonly result: Uint8Array | undefined
  readonly cached: boolean
  /** OK for a command that ran, whatever its exit code. */
  readonly status: StatusReport
  readonly message: string
  readonly logs?: readonly ServerLog[]
}

/** A blob with the server's log of an execution. */
export interface ServerLog {
  /** A file name without slashes: clients save the blob under it. */
  readonly name: string
  readonly digest: Digest
  readonly isHumanReadable: boolean
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
    partialExecutionMetadata: partial && progressProto(partial),
    digestFunction: actionDigest === undefined ? 0 : digestFunctionNumber(actionDigest.fn),
  })

const progressProto = ({ worker, queuedAt, assignedAt, startedAt }: ExecutionProgress) => ({
  ...NO_METADATA,
  worker: worker ?? '',
  queuedTimestamp: timeOf(queuedAt),
  workerStartTimestamp: timeOf(assignedAt),
  executionStartTimestamp: timeOf(startedAt),
})

const NO_METADATA = proto.ExecutedActionMetadata.decode(new Uint8Array())

const timeOf = (ms: number | undefined) => (ms === undefined ? undefined : timestampOf(ms))

const RESULT_TAG = 0x0a

function responseProto({ result, cached, status, message, logs = [] }: ExecutionResponse): Uint8Array {
  const rest = encoded(proto.ExecuteResponse, {
    result: undefined,
    cachedResult: cached,
    status: { code: status.code, message: status.message, details: status.details.map(detailToProto) },
    serverLogs: Object.fromEntries(
      logs.map(({ name, digest, isHumanReadable }) => [
        name,
        { digest: digestToProto(digest), humanReadable: isHumanReadable },
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
  if (done !== (response !== undefined)) throw invalid(`operation ${name} has ended without a response`)
  const from = proto.ExecuteOperationMetadata.decode(metadata?.value ?? new Uint8Array())
  const { actionDigest, partialExecutionMetadata: partial, stdoutStreamName, stderrStreamName } = from
  const fn = digestFunctionOf(from.digestFunction, actionDigest?.hash.length ?? 0, 'sha256')
  return {
    name,
    stage: EXECUTION_STAGES.find((_, number) => number === from.stage) ?? 'unknown',
    actionDigest: optionalDigestFromProto(actionDigest, fn),
    partial: partial && progressOf(partial),
    streams:
      stdoutStreamName === '' && stderrStreamName === ''
        ? undefined
        : { stdout: stdoutStreamName, stderr: stderrStreamName },
    response: response && responseOf(response.value, fn),
  }
}

const progressOf = (from: proto.ExecutedActionMetadata): ExecutionProgress => ({
  worker: from.worker === '' ? undefined : from.worker,
  queuedAt: msOf(from.queuedTimestamp),
  assignedAt: msOf(from.workerStartTimestamp),
  startedAt: msOf(from.executionStartTimestamp),
})

/** A Timestamp has the fields of a Duration since 1970. */
const msOf = (time: Timestamp | undefined) => time && durationFromProto(time)

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
    status: {
      code: status?.code ?? 0,
      message: status?.message ?? '',
      details: (status?.details ?? []).map(detailFromProto),
    },
    message,
    logs: Object.entries(serverLogs).map(([name, { digest, humanReadable }]) => ({
      name,
      digest: digestFromProto(digest, fn, 'a log of the server'),
      isHumanReadable: humanReadable,
    })),
  }
}

/** The header of RequestMetadata, on every call. */
export const REQUEST_METADATA_HEADER = 'build.bazel.remote.execution.v2.requestmetadata-bin'

const METADATA = {
  name: 'RequestMetadata',
  shape: { 1: { 1: 'text', 2: 'text' }, 2: 'text', 3: 'text', 4: 'text', 5: 'text', 6: 'text', 7: 'text' },
} as const

/** Returns undefined when the header cannot be decoded: the metadata is informational and must not fail the call. */
export function requestMetadataFromProto(bytes: Uint8Array): RequestMetadata | undefined {
  try {
    const { toolDetails, ...rest } = decodeWellFormed(proto.RequestMetadata, bytes, METADATA)
    return { toolName: toolDetails?.toolName ?? '', toolVersion: toolDetails?.toolVersion ?? '', ...rest }
  } catch {
    return undefined
  }
}

export function requestMetadataToProto({ toolName, toolVersion, ...rest }: RequestMetadata): Uint8Array {
  return proto.RequestMetadata.encode({ toolDetails: { toolName, toolVersion }, ...rest }).finish()
}
