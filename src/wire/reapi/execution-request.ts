import type { Digest } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import { type InstanceName, instanceNameProblem } from '../../model/instance-name.ts'
import { DIGEST_SHAPE, digestFromProto, digestToProto } from '../digests/digest.ts'
import {
  digestFunctionNumber,
  digestFunctionOf,
  sha256Unnamed,
  type UnnamedFunction,
} from '../digests/digest-function.ts'
import * as proto from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { InlineOptions } from '../hot/inline-outputs.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'

export interface ExecuteRequest {
  readonly instance: InstanceName
  readonly actionDigest: Digest
  /** Run it though the cache has it. */
  readonly skipCacheLookup: boolean
  /** Lower goes sooner. */
  readonly priority: number
  /** How long the client would like the result kept: lower is longer. */
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
