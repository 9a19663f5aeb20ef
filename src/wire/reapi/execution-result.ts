import type { ExecutionTime } from '../../model/action-result.ts'
import { ExecutedActionMetadata } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { fieldLength, putHead } from '../messages/message-writer.ts'
import { executionMetadataToProto } from './execution-metadata.ts'

/** What the grid knows of an attempt, for what its worker did not say. Times are milliseconds since 1970. */
export interface AttemptTimes {
  readonly worker: string
  readonly queuedAt: number
  readonly assignedAt: number
  readonly startedAt: number
  readonly endedAt: number
}

const EXECUTION_METADATA = 0x4a
const WORKER = 1
const QUEUED = 2
const WORKER_START = 3

/**
 * Completes the execution metadata of a result: build tools compute how long each part took, and a time that is not set
 * makes absurd ones. A worker does not know when its task was queued; one that says nothing of times at all is given
 * those that the grid saw. What the worker said stays, byte for byte.
 */
export function withAttemptTimes(result: Uint8Array, seen: AttemptTimes): Uint8Array {
  const reader = new MessageReader(result, 'ActionResult')
  const before: Uint8Array[] = []
  const said: Uint8Array[] = []
  while (reader.next()) {
    const { start } = reader
    if (reader.field === 9) said.push(reader.view())
    else {
      reader.skip()
      before.push(result.subarray(start, reader.at))
    }
  }
  const metadata = Buffer.concat(said)
  const added = missingMetadata(metadata, seen)
  if (added.length === 0) return result
  const length = metadata.length + added.length
  const head = Buffer.allocUnsafe(fieldLength(length) - length)
  putHead(head, 0, EXECUTION_METADATA, length)
  return Buffer.concat([...before, head, metadata, added])
}

function missingMetadata(metadata: Uint8Array, seen: AttemptTimes): Uint8Array {
  const reader = new MessageReader(metadata, 'ExecutedActionMetadata')
  const fields = new Set<number>()
  let workerStartMs = seen.assignedAt
  while (reader.next()) {
    fields.add(reader.field)
    if (reader.field === WORKER_START) workerStartMs = timeMs(reader)
    else reader.skip()
  }
  const hasTimes = [...fields].some((field) => field >= WORKER_START && field <= 10)
  const times: Partial<Record<ExecutionTime, number>> = hasTimes ? {} : timesSeen(seen)
  // Two machines, two clocks: nothing is told to have begun before it was queued.
  if (!fields.has(QUEUED)) times.queued = Math.min(seen.queuedAt, workerStartMs)
  return ExecutedActionMetadata.encode(
    executionMetadataToProto({
      worker: fields.has(WORKER) ? '' : seen.worker,
      times: Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, timestampOf(ms)])),
      virtualDurationMs: undefined,
      auxiliary: [],
    }),
  ).finish()
}

const timesSeen = ({ assignedAt, startedAt, endedAt }: AttemptTimes): Partial<Record<ExecutionTime, number>> => ({
  workerStart: assignedAt,
  inputFetchStart: assignedAt,
  inputFetchCompleted: startedAt,
  executionStart: startedAt,
  executionCompleted: endedAt,
  outputUploadStart: endedAt,
  outputUploadCompleted: endedAt,
  workerCompleted: endedAt,
})

export const timestampOf = (ms: number): { seconds: number; nanos: number } => {
  const seconds = Math.floor(ms / 1000)
  return { seconds, nanos: Math.round((ms - seconds * 1000) * 1e6) }
}

function timeMs(reader: MessageReader): number {
  const outer = reader.enter()
  let ms = 0
  while (reader.next()) {
    if (reader.field === 1) ms += reader.count('a timestamp') * 1000
    else if (reader.field === 2) ms += reader.count('a timestamp') / 1e6
    else reader.skip()
  }
  reader.leave(outer)
  return ms
}
