import type { ExecutedActionMetadata, ExecutionTime } from '../../model/action-result.ts'
import type { ExecutedActionMetadata as MetadataProto } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { durationFromProto, durationToProto } from '../google/duration.ts'
import { TIMESTAMP_SHAPE, timestampFromProto, timestampToProto } from '../google/timestamp.ts'
import type { Shape } from '../messages/well-formed.ts'

export const EXECUTION_METADATA_SHAPE: Shape = {
  1: 'text',
  2: TIMESTAMP_SHAPE,
  3: TIMESTAMP_SHAPE,
  4: TIMESTAMP_SHAPE,
  5: TIMESTAMP_SHAPE,
  6: TIMESTAMP_SHAPE,
  7: TIMESTAMP_SHAPE,
  8: TIMESTAMP_SHAPE,
  9: TIMESTAMP_SHAPE,
  10: TIMESTAMP_SHAPE,
  11: { 1: 'text', 2: 'bytes' },
  12: { 1: 'number', 2: 'number' },
}

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
} as const satisfies Record<ExecutionTime, keyof MetadataProto>

const NAMES = Object.keys(TIMES) as readonly ExecutionTime[]

export function executionMetadataToProto(metadata: ExecutedActionMetadata): MetadataProto {
  const time = (name: ExecutionTime) => {
    const at = metadata.times[name]
    return at && timestampToProto(at)
  }
  const { worker, virtualDurationMs, auxiliary } = metadata
  return {
    worker,
    queuedTimestamp: time('queued'),
    workerStartTimestamp: time('workerStart'),
    workerCompletedTimestamp: time('workerCompleted'),
    inputFetchStartTimestamp: time('inputFetchStart'),
    inputFetchCompletedTimestamp: time('inputFetchCompleted'),
    executionStartTimestamp: time('executionStart'),
    executionCompletedTimestamp: time('executionCompleted'),
    virtualExecutionDuration: virtualDurationMs === undefined ? undefined : durationToProto(virtualDurationMs),
    outputUploadStartTimestamp: time('outputUploadStart'),
    outputUploadCompletedTimestamp: time('outputUploadCompleted'),
    auxiliaryMetadata: auxiliary,
  }
}

export function executionMetadataFromProto(proto: MetadataProto): ExecutedActionMetadata {
  const times: Partial<Record<ExecutionTime, ReturnType<typeof timestampFromProto>>> = {}
  for (const name of NAMES) {
    const at = proto[TIMES[name]]
    if (at !== undefined) times[name] = timestampFromProto(at)
  }
  const duration = proto.virtualExecutionDuration
  return {
    worker: proto.worker,
    times,
    virtualDurationMs: duration && durationFromProto(duration),
    auxiliary: proto.auxiliaryMetadata.map(({ typeUrl, value }) => ({ typeUrl, value })),
  }
}
