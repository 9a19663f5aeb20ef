import type { DigestFunction } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import type {
  ActionResult,
  ExecutedActionMetadata,
  ExecutionTime,
  OutputDirectory,
  OutputFile,
  OutputStream,
  OutputSymlink,
} from '../../model/action-result.ts'
import type { Timestamp } from '../../model/timestamp.ts'
import { digestFromProto, digestToProto, optionalDigestFromProto } from '../digests/digest.ts'
import * as proto from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { durationFromProto, durationToProto } from '../google/time.ts'
import { ACTION_RESULT } from '../hot/result-shape.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'
import { nodePropertiesFromProto, nodePropertiesToProto } from './node-properties.ts'

/**
 * Decodes a result completely. The action cache does not: it stores and returns the client's bytes
 * (hot/action-result.ts).
 */
export function actionResultFromProto(bytes: Uint8Array, fn: DigestFunction): ActionResult {
  const from = decodeWellFormed(proto.ActionResult, bytes, ACTION_RESULT)
  return {
    exitCode: from.exitCode,
    outputFiles: from.outputFiles.map((file) => fileOf(file, fn)),
    outputDirectories: from.outputDirectories.map((directory) => directoryOf(directory, fn)),
    outputSymlinks: from.outputSymlinks.map(symlinkOf),
    legacyFileSymlinks: from.outputFileSymlinks.map(symlinkOf),
    legacyDirectorySymlinks: from.outputDirectorySymlinks.map(symlinkOf),
    stdout: streamOf(optionalDigestFromProto(from.stdoutDigest, fn), from.stdoutRaw),
    stderr: streamOf(optionalDigestFromProto(from.stderrDigest, fn), from.stderrRaw),
    metadata: from.executionMetadata && executionMetadataFromProto(from.executionMetadata),
  }
}

export const actionResultToProto = (result: ActionResult): Uint8Array =>
  proto.ActionResult.encode({
    outputFiles: result.outputFiles.map(fileProto),
    outputFileSymlinks: result.legacyFileSymlinks.map(symlinkProto),
    outputSymlinks: result.outputSymlinks.map(symlinkProto),
    outputDirectories: result.outputDirectories.map(directoryProto),
    outputDirectorySymlinks: result.legacyDirectorySymlinks.map(symlinkProto),
    exitCode: result.exitCode,
    stdoutRaw: result.stdout.raw ?? NOTHING,
    stdoutDigest: result.stdout.digest && digestToProto(result.stdout.digest),
    stderrRaw: result.stderr.raw ?? NOTHING,
    stderrDigest: result.stderr.digest && digestToProto(result.stderr.digest),
    executionMetadata: result.metadata && executionMetadataToProto(result.metadata),
  }).finish()

const NOTHING = new Uint8Array(0)

/** On the wire an empty content equals a content that is not inline. */
const nonEmpty = (bytes: Uint8Array): Uint8Array | undefined => (bytes.length > 0 ? bytes : undefined)

const streamOf = (digest: OutputStream['digest'], raw: Uint8Array): OutputStream => ({ digest, raw: nonEmpty(raw) })

function relative(path: string): string {
  if (path.startsWith('/')) throw invalid(`the output path ${JSON.stringify(path.slice(0, 200))} is absolute`)
  return path
}

const fileOf = (file: proto.OutputFile, fn: DigestFunction): OutputFile => ({
  path: relative(file.path),
  digest: digestFromProto(file.digest, fn, `the output ${file.path}`),
  executable: file.isExecutable,
  contents: nonEmpty(file.contents),
  properties: nodePropertiesFromProto(file.nodeProperties),
})

const fileProto = (file: OutputFile): proto.OutputFile => ({
  path: file.path,
  digest: digestToProto(file.digest),
  isExecutable: file.executable,
  contents: file.contents ?? NOTHING,
  nodeProperties: nodePropertiesToProto(file.properties),
})

function directoryOf(directory: proto.OutputDirectory, fn: DigestFunction): OutputDirectory {
  const treeDigest = optionalDigestFromProto(directory.treeDigest, fn)
  const rootDigest = optionalDigestFromProto(directory.rootDirectoryDigest, fn)
  if (treeDigest === undefined && rootDigest === undefined) throw invalid('an output directory has no digest')
  return {
    path: relative(directory.path),
    treeDigest,
    topologicallySorted: directory.isTopologicallySorted,
    rootDigest,
  }
}

const directoryProto = (directory: OutputDirectory): proto.OutputDirectory => ({
  path: directory.path,
  treeDigest: directory.treeDigest && digestToProto(directory.treeDigest),
  isTopologicallySorted: directory.topologicallySorted,
  rootDirectoryDigest: directory.rootDigest && digestToProto(directory.rootDigest),
})

const symlinkOf = ({ path, target, nodeProperties }: proto.OutputSymlink): OutputSymlink => ({
  path: relative(path),
  target,
  properties: nodePropertiesFromProto(nodeProperties),
})

const symlinkProto = ({ path, target, properties }: OutputSymlink): proto.OutputSymlink => ({
  path,
  target,
  nodeProperties: nodePropertiesToProto(properties),
})

const TIMES = {
  queued: 'queuedTimestamp',
  workerStart: 'workerStartTimestamp',
  inputFetchStart: 'inputFetchStartTimestamp',
  inputFetchCompleted: 'inputFetchCompletedTimestamp',
  executionStart: 'executionStartTimestamp',
  executionCompleted: 'executionCompletedTimestamp',
  outputUploadStart: 'outputUploadStartTimestamp',
  outputUploadCompleted: 'outputUploadCompletedTimestamp',
  workerCompleted: 'workerCompletedTimestamp',
} as const satisfies Record<ExecutionTime, keyof proto.ExecutedActionMetadata>

const NAMES = Object.keys(TIMES) as readonly ExecutionTime[]

const executionMetadataToProto = (metadata: ExecutedActionMetadata): proto.ExecutedActionMetadata => ({
  worker: metadata.worker,
  queuedTimestamp: metadata.times.queued,
  workerStartTimestamp: metadata.times.workerStart,
  workerCompletedTimestamp: metadata.times.workerCompleted,
  inputFetchStartTimestamp: metadata.times.inputFetchStart,
  inputFetchCompletedTimestamp: metadata.times.inputFetchCompleted,
  executionStartTimestamp: metadata.times.executionStart,
  executionCompletedTimestamp: metadata.times.executionCompleted,
  virtualExecutionDuration:
    metadata.virtualDurationMs === undefined ? undefined : durationToProto(metadata.virtualDurationMs),
  outputUploadStartTimestamp: metadata.times.outputUploadStart,
  outputUploadCompletedTimestamp: metadata.times.outputUploadCompleted,
  auxiliaryMetadata: metadata.auxiliary,
})

function executionMetadataFromProto(from: proto.ExecutedActionMetadata): ExecutedActionMetadata {
  const times: Partial<Record<ExecutionTime, Timestamp>> = {}
  for (const name of NAMES) {
    const at = from[TIMES[name]]
    if (at !== undefined) times[name] = at
  }
  const duration = from.virtualExecutionDuration
  return {
    worker: from.worker,
    times,
    virtualDurationMs: duration && durationFromProto(duration),
    auxiliary: from.auxiliaryMetadata.map(({ typeUrl, value }) => ({ typeUrl, value })),
  }
}
