import type { DigestFunction } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import type { ActionResult, ExecutedActionMetadata, OutputFile } from '../../model/action-result.ts'
import {
  type CommandResult,
  type CommandTask,
  hasSucceeded,
  STAGE_CAUSES,
  type StageResult,
  type StageStream,
  type StageUsage,
  type TaskResult,
  toCommandResult,
} from '../../model/command-task.ts'
import { DIGEST_SHAPE, digestToProto, optionalDigestFromProto } from '../digests/digest.ts'
import * as proto from '../gen/windlass/task/v1/command.ts'
import { ResourceUsage } from '../gen/windlass/task/v1/task.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'
import { actionResultFromProto, actionResultToProto } from '../reapi/action-result.ts'
import { mustBePath, STREAMS_FOLDER } from './command-task-rules.ts'

/** The result of an action is a plain ActionResult, any other result a CommandResult inside one. */
export const taskResultToProto = ({ action }: Pick<CommandTask, 'action'>, result: TaskResult): Uint8Array =>
  action === undefined ? commandResultToProto(toCommandResult(result)) : actionResultToProto(result)

/**
 * The result of a command task is encoded as an ActionResult: every protocol and the action cache can carry it, and its
 * blobs are kept like those of an action. Fields that ActionResult lacks are in its auxiliary metadata.
 */
export function commandResultToProto(result: CommandResult): Uint8Array {
  const { stages, outputs, metadata } = result
  const details = proto.CommandResult.encode({
    stages: stages.map(stageProto),
    outputsRoot: outputs.root && digestToProto(outputs.root),
    problem: outputs.problem ?? '',
  }).finish()
  return actionResultToProto({
    ...NOTHING,
    exitCode: hasSucceeded(result) ? 0 : stages.at(-1)?.exitCode || 1,
    outputFiles: [...outputs.files.map(fileOf), ...stages.flatMap(streamFiles)],
    outputDirectories:
      outputs.root === undefined
        ? []
        : [{ path: '', treeDigest: undefined, topologicallySorted: false, rootDigest: outputs.root }],
    outputSymlinks: outputs.symlinks.map((symlink) => ({ ...symlink, properties: undefined })),
    metadata: {
      worker: '',
      times: {},
      virtualDurationMs: undefined,
      ...metadata,
      auxiliary: [...(metadata?.auxiliary ?? []), { typeUrl: RESULT_TYPE, value: details }],
    },
  })
}

export function commandResultFromProto(bytes: Uint8Array, fn: DigestFunction): CommandResult {
  if (bytes.length > MOST_RESULT_BYTES) throw invalid(`a result of ${bytes.length} bytes is too long`, 'range')
  const { outputFiles, outputSymlinks, metadata } = actionResultFromProto(bytes, fn)
  const details = metadata?.auxiliary.find(({ typeUrl }) => typeUrl === RESULT_TYPE)
  if (metadata === undefined || details === undefined) throw invalid('this is not the result of a command task')
  const named = { name: 'CommandResult', shape: RESULT_SHAPE } as const
  const { stages, outputsRoot, problem } = decodeWellFormed(proto.CommandResult, details.value, named)
  if (stages.length === 0) throw invalid('the result of a command task has no stage')
  // Clients and stagers create files under these names, and the worker may be untrusted.
  for (const { path } of [...outputFiles, ...outputSymlinks]) mustBePath(path, 'output')
  return {
    stages: stages.map((stage) => stageOf(stage, fn)),
    outputs: {
      root: optionalDigestFromProto(outputsRoot, fn),
      files: outputFiles.filter(isOwn).map(({ path, digest, executable }) => ({ path, digest, executable })),
      symlinks: outputSymlinks.map(({ path, target }) => ({ path, target })),
      problem: problem === '' ? undefined : problem,
    },
    metadata: { ...metadata, auxiliary: metadata.auxiliary.filter((each) => each !== details) },
  }
}

/** The longest lists and inline streams that our worker allows are far below this. */
const MOST_RESULT_BYTES = 16 * 1024 * 1024
const RESULT_TYPE = 'type.googleapis.com/windlass.task.v1.CommandResult'
const EMPTY = { digest: undefined, raw: undefined }
const NOTHING: ActionResult = {
  exitCode: 0,
  outputFiles: [],
  outputDirectories: [],
  outputSymlinks: [],
  legacyFileSymlinks: [],
  legacyDirectorySymlinks: [],
  stdout: EMPTY,
  stderr: EMPTY,
  metadata: undefined,
}

const fileOf = (file: Pick<OutputFile, 'path' | 'digest' | 'executable'>): OutputFile => ({
  ...file,
  contents: undefined,
  properties: undefined,
})

const isOwn = ({ path }: OutputFile): boolean => !path.startsWith(`${STREAMS_FOLDER}/`)

/** Listed as output files, so that the store keeps them as long as the result. */
const streamFiles = ({ name, stdout, stderr }: StageResult): OutputFile[] =>
  Object.entries({ stdout, stderr }).flatMap(([stream, { digest }]) =>
    digest === undefined ? [] : [fileOf({ path: `${STREAMS_FOLDER}/${name}.${stream}`, digest, executable: false })],
  )

const stageProto = (stage: StageResult): proto.CommandResult_Stage => ({
  name: stage.name,
  cause: STAGE_CAUSES.indexOf(stage.cause) as proto.CommandResult_Cause,
  exitCode: stage.exitCode,
  signal: stage.signal ?? '',
  reason: stage.reason ?? '',
  stdout: streamProto(stage.stdout),
  stderr: streamProto(stage.stderr),
  usage: usageProto(stage.usage),
  cached: stage.cached === true,
})

function stageOf(from: proto.CommandResult_Stage, fn: DigestFunction): StageResult {
  const cause = STAGE_CAUSES.find((_, number) => number === from.cause)
  if (cause === undefined) throw invalid(`a stage has the unknown cause ${from.cause}`)
  return {
    name: from.name,
    cause,
    exitCode: from.exitCode,
    signal: from.signal === '' ? undefined : from.signal,
    reason: from.reason === '' ? undefined : from.reason,
    stdout: streamOf(from.stdout, fn),
    stderr: streamOf(from.stderr, fn),
    usage: usageOf(from.usage),
    ...(from.cached && { cached: true }),
  }
}

const streamProto = ({ inline, digest, droppedBytes, droppedAt }: StageStream): proto.CommandResult_Stream => ({
  inline: inline ?? new Uint8Array(),
  digest: digest && digestToProto(digest),
  droppedBytes,
  droppedAt,
})

function streamOf(from: proto.CommandResult_Stream | undefined, fn: DigestFunction): StageStream {
  const digest = optionalDigestFromProto(from?.digest, fn)
  const { inline = new Uint8Array(), droppedBytes = 0, droppedAt = 0 } = from ?? {}
  if (droppedBytes < 0 || droppedAt < 0 || (digest !== undefined && inline.length > 0))
    throw invalid('the output of a stage has both a digest and inline bytes, or a negative count')
  return { inline: digest === undefined ? inline : undefined, digest, droppedBytes, droppedAt }
}

const READINGS = ['sampled', 'counted'] as const

const usageProto = (usage: StageUsage): ResourceUsage => ({
  wallMs: Math.round(usage.wallMs),
  cpuUserMs: whole(usage.cpuUserMs),
  cpuSystemMs: whole(usage.cpuSystemMs),
  peakMemoryBytes: whole(usage.peakMemoryBytes),
  reading: READINGS.indexOf(usage.how) as ResourceUsage['reading'],
})

const whole = (amount: number | undefined): number | undefined =>
  amount === undefined ? undefined : Math.round(amount)

const usageOf = (from: ResourceUsage | undefined): StageUsage => ({
  wallMs: from?.wallMs ?? 0,
  cpuUserMs: from?.cpuUserMs,
  cpuSystemMs: from?.cpuSystemMs,
  peakMemoryBytes: from?.peakMemoryBytes,
  how: READINGS.find((_, number) => number === from?.reading) ?? 'sampled',
})

const STREAM_SHAPE: Shape = { 1: 'bytes', 2: DIGEST_SHAPE, 3: 'number', 4: 'number' }
const USAGE_SHAPE: Shape = { 1: 'number', 2: 'number', 3: 'number', 4: 'number', 5: 'number' }
const RESULT_SHAPE: Shape = {
  1: {
    1: 'text',
    2: 'number',
    3: 'number',
    4: 'text',
    5: 'text',
    6: STREAM_SHAPE,
    7: STREAM_SHAPE,
    8: USAGE_SHAPE,
    9: 'number',
  },
  2: DIGEST_SHAPE,
  3: 'text',
}

const USAGE_TYPE = 'type.googleapis.com/windlass.task.v1.ResourceUsage'

type Auxiliary = ExecutedActionMetadata['auxiliary']

/** The resource usage of an action, as an entry of its auxiliary metadata. */
export const usageToAuxiliary = (usage: StageUsage): Auxiliary[number] => ({
  typeUrl: USAGE_TYPE,
  value: ResourceUsage.encode(usageProto(usage)).finish(),
})

/** Undefined when the worker reported no usage. */
export function usageOfAuxiliary(auxiliary: Auxiliary): StageUsage | undefined {
  const entry = auxiliary.find(({ typeUrl }) => typeUrl === USAGE_TYPE)
  return entry && usageOf(decodeWellFormed(ResourceUsage, entry.value, { name: 'ResourceUsage', shape: USAGE_SHAPE }))
}
