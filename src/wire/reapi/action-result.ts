import type { DigestFunction } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import type {
  ActionResult,
  OutputDirectory,
  OutputFile,
  OutputStream,
  OutputSymlink,
} from '../../model/action-result.ts'
import { DIGEST_SHAPE, digestFromProto, digestToProto, optionalDigestFromProto } from '../digests/digest.ts'
import * as proto from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'
import { EXECUTION_METADATA_SHAPE, executionMetadataFromProto, executionMetadataToProto } from './execution-metadata.ts'
import { NODE_PROPERTIES_SHAPE, nodePropertiesFromProto, nodePropertiesToProto } from './node-properties.ts'

/** For results that are made or looked into here; the cache passes on the bytes that it got (hot/action-result.ts). */
export function actionResultFromProto(bytes: Uint8Array, fn: DigestFunction): ActionResult {
  const from = decodeWellFormed(proto.ActionResult, bytes, { name: 'ActionResult', shape: ACTION_RESULT_SHAPE })
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

const SYMLINK_SHAPE: Shape = { 1: 'text', 2: 'text', 4: NODE_PROPERTIES_SHAPE }

const ACTION_RESULT_SHAPE: Shape = {
  2: { 1: 'text', 2: DIGEST_SHAPE, 4: 'number', 5: 'bytes', 7: NODE_PROPERTIES_SHAPE },
  3: { 1: 'text', 3: DIGEST_SHAPE, 4: 'number', 5: DIGEST_SHAPE },
  4: 'number',
  5: 'bytes',
  6: DIGEST_SHAPE,
  7: 'bytes',
  8: DIGEST_SHAPE,
  9: EXECUTION_METADATA_SHAPE,
  10: SYMLINK_SHAPE,
  11: SYMLINK_SHAPE,
  12: SYMLINK_SHAPE,
}

const NOTHING = new Uint8Array(0)

/** Nothing inline and an empty content inline look the same on the wire. */
const given = (bytes: Uint8Array): Uint8Array | undefined => (bytes.length > 0 ? bytes : undefined)

const streamOf = (digest: OutputStream['digest'], raw: Uint8Array): OutputStream => ({ digest, raw: given(raw) })

function relative(path: string): string {
  if (path.startsWith('/')) throw invalid(`the output path ${JSON.stringify(path.slice(0, 200))} is absolute`)
  return path
}

const fileOf = (file: proto.OutputFile, fn: DigestFunction): OutputFile => ({
  path: relative(file.path),
  digest: digestFromProto(file.digest, fn, `the output ${file.path}`),
  executable: file.isExecutable,
  contents: given(file.contents),
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
