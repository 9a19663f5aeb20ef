import { digestFunctionByNumber } from '../../base/digest.ts'
import type { ApiVersion, ExecutionCapabilities, ServerCapabilities } from '../../model/capabilities.ts'
import { digestFunctionNumber } from '../digests/digest.ts'
import * as proto from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { SemVer } from '../gen/build/bazel/semver/semver.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'
import { withinCount } from '../messages/within-count.ts'
import {
  CACHE_SHAPE,
  cacheFromProto,
  cacheToProto,
  PRIORITIES_SHAPE,
  prioritiesFromProto,
  prioritiesToProto,
} from './cache-capabilities.ts'

/** Decodes a GetCapabilitiesRequest. Its only field is the instance name. */
export function capabilitiesRequestFromProto(bytes: Uint8Array): string {
  const reader = new MessageReader(bytes, 'GetCapabilitiesRequest')
  let instance = ''
  while (reader.next()) {
    if (reader.field === 1) instance = reader.instance()
    else reader.skip()
  }
  return instance
}

export const capabilitiesRequestToProto = (instance: string): Uint8Array =>
  proto.GetCapabilitiesRequest.encode({ instanceName: instance }).finish()

export function capabilitiesToProto(capabilities: ServerCapabilities): Uint8Array {
  const { cache, execution, deprecatedApiVersion } = capabilities
  return proto.ServerCapabilities.encode({
    cacheCapabilities: cacheToProto(cache),
    executionCapabilities: execution && executionProto(execution),
    deprecatedApiVersion: deprecatedApiVersion && versionProto(deprecatedApiVersion),
    lowApiVersion: versionProto(capabilities.lowApiVersion),
    highApiVersion: versionProto(capabilities.highApiVersion),
  }).finish()
}

/** Digest functions and compressors that we do not know are left out. */
export function capabilitiesFromProto(bytes: Uint8Array): ServerCapabilities {
  const codec = withinCount(proto.ServerCapabilities)
  const from = decodeWellFormed(codec, bytes, { name: 'ServerCapabilities', shape: SHAPE })
  return {
    cache: cacheFromProto(from.cacheCapabilities ?? proto.CacheCapabilities.create()),
    execution: from.executionCapabilities && executionOf(from.executionCapabilities),
    lowApiVersion: versionOf(from.lowApiVersion ?? SemVer.create()),
    highApiVersion: versionOf(from.highApiVersion ?? SemVer.create()),
    deprecatedApiVersion: from.deprecatedApiVersion && versionOf(from.deprecatedApiVersion),
  }
}

const VERSION: Shape = { 1: 'number', 2: 'number', 3: 'number', 4: 'text' }
const EXECUTION: Shape = { 1: 'number', 2: 'number', 3: PRIORITIES_SHAPE, 4: 'text', 5: 'numbers' }
const SHAPE: Shape = { 1: CACHE_SHAPE, 2: EXECUTION, 3: VERSION, 4: VERSION, 5: VERSION }

const executionProto = (execution: ExecutionCapabilities): proto.ExecutionCapabilities => ({
  digestFunction: digestFunctionNumber(execution.digestFunctions[0] ?? 'sha256'),
  execEnabled: execution.enabled,
  executionPriorityCapabilities: prioritiesToProto(execution.priorities),
  supportedNodeProperties: execution.nodeProperties,
  digestFunctions: execution.digestFunctions.map(digestFunctionNumber),
})

/** A server before REAPI 2.7 sends only one digest function, in the singular field. */
const executionOf = (from: proto.ExecutionCapabilities): ExecutionCapabilities => ({
  enabled: from.execEnabled,
  digestFunctions: (from.digestFunctions.length > 0 ? from.digestFunctions : [from.digestFunction]).flatMap(
    (number) => digestFunctionByNumber(number) ?? [],
  ),
  priorities: prioritiesFromProto(from.executionPriorityCapabilities),
  nodeProperties: from.supportedNodeProperties,
})

const versionProto = ({ major, minor }: ApiVersion): SemVer => ({ major, minor, patch: 0, prerelease: '' })
const versionOf = ({ major, minor }: SemVer): ApiVersion => ({ major, minor })
