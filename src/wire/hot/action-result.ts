import type { DigestFunction, DigestList } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import { timestampOf } from '../google/time.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { fieldLength, putField, putHead, putVarint, varintLength } from '../messages/message-writer.ts'
import { DigestListReader, PendingDigest } from './digest-reader.ts'

/**
 * An ActionResult stays the bytes that a client or a worker sent, so that unknown fields survive. `viewActionResult`
 * reads the fields that the cache needs; `withWorker`, `withAttemptTimes`, and `withInlined` in inline-outputs.ts
 * insert bytes. A scalar field is appended: the last occurrence counts. A nested message replaces the old one: by the
 * protobuf rule a second occurrence is merged into the first, but some clients do not implement that.
 */
export interface ActionResultView {
  readonly bytes: Uint8Array
  readonly fn: DigestFunction
  readonly exitCode: number
  /** Output files, then stdout and stderr where they are blobs. */
  readonly files: DigestList
  /** Tree messages: each refers to more files. */
  readonly trees: DigestList
  /** Directory messages at the top of output directories: each refers to files, and to more directories. */
  readonly directories: DigestList
  readonly hasWorker: boolean
}

const NAME = 'ActionResult'

export function viewActionResult(bytes: Uint8Array, fn: DigestFunction): ActionResultView {
  const reader = new MessageReader(bytes, NAME)
  const files = new DigestListReader(fn)
  const trees = new DigestListReader(fn)
  const directories = new DigestListReader(fn)
  const output = new PendingDigest()
  const stdout = new PendingDigest()
  const stderr = new PendingDigest()
  let exitCode = 0
  let hasWorker = false
  while (reader.next()) {
    switch (reader.field) {
      case 2:
        readOutputFile(reader, output.clear())
        files.add(output, reader)
        break
      case 3:
        readOutputDirectory(reader, trees, directories)
        break
      case 4:
        exitCode = reader.int32()
        break
      case 6:
        stdout.merge(reader)
        break
      case 8:
        stderr.merge(reader)
        break
      case 9:
        hasWorker = readsWorker(reader) || hasWorker
        break
      default:
        reader.skip()
    }
  }
  if (!stdout.empty) files.add(stdout, reader)
  if (!stderr.empty) files.add(stderr, reader)
  const lists = { files: files.list(fn), trees: trees.list(fn), directories: directories.list(fn) }
  return { bytes, fn, exitCode, ...lists, hasWorker }
}

/** Reads only the digest of an OutputFile. */
function readOutputFile(reader: MessageReader, digest: PendingDigest): void {
  const outer = reader.enter()
  while (reader.next()) {
    if (reader.field === 1) reader.skipText()
    else if (reader.field === 2) digest.merge(reader)
    else reader.skip()
  }
  reader.leave(outer)
}

function readOutputDirectory(reader: MessageReader, trees: DigestListReader, roots: DigestListReader): void {
  const tree = new PendingDigest()
  const root = new PendingDigest()
  const outer = reader.enter()
  while (reader.next()) {
    if (reader.field === 3) tree.merge(reader)
    else if (reader.field === 5) root.merge(reader)
    else reader.skip()
  }
  if (tree.empty && root.empty) throw invalid('an output directory has no digest')
  if (!tree.empty) trees.add(tree, reader)
  if (!root.empty) roots.add(root, reader)
  reader.leave(outer)
}

function readsWorker(reader: MessageReader): boolean {
  let found = false
  const outer = reader.enter()
  while (reader.next()) {
    if (reader.field === 1) found = reader.text() !== ''
    else reader.skip()
  }
  reader.leave(outer)
  return found
}

const METADATA_FIELD = 9
const METADATA_TAG = 0x4a
const WORKER_TAG = 0x0a

/** Sets the worker of a result that names none. REAPI forbids an empty result, so every stored result has a worker. */
export function withWorker(view: ActionResultView, worker: string): Uint8Array {
  const { bytes } = view
  if (view.hasWorker) return bytes
  const name = Buffer.from(worker)
  const reader = new MessageReader(bytes, NAME)
  let old: Place = { start: bytes.length, from: bytes.length, end: bytes.length }
  while (reader.next()) {
    if (reader.field !== METADATA_FIELD) reader.skip()
    else old = placeOf(reader)
  }
  const length = old.end - old.from + fieldLength(name.length)
  const out = Buffer.allocUnsafe(bytes.length - (old.end - old.start) + fieldLength(length))
  out.set(bytes.subarray(0, old.start), 0)
  let at = putHead(out, old.start, METADATA_TAG, length)
  out.set(bytes.subarray(old.from, old.end), at)
  at = putField(out, at + (old.end - old.from), WORKER_TAG, name)
  out.set(bytes.subarray(old.end), at)
  return out
}

/** A nested message: from its tag, from its first byte, to its end. */
export interface Place {
  readonly start: number
  readonly from: number
  readonly end: number
}

function placeOf(reader: MessageReader): Place {
  const { start } = reader
  const length = reader.delimited()
  const from = reader.at
  reader.at += length
  return { start, from, end: reader.at }
}

/** The times of an attempt that the server observed, in milliseconds since 1970. */
export interface AttemptTimes {
  readonly worker: string
  readonly queuedAt: number
  readonly assignedAt: number
  readonly startedAt: number
  readonly endedAt: number
}

/**
 * Adds the execution metadata that the worker did not set: build tools compute the duration of each phase, and an unset
 * time gives absurd durations. A worker does not know when its task was queued; for a worker that sets no times at all,
 * the times that the server observed are added. The worker's own fields are kept byte for byte.
 */
export function withAttemptTimes(result: Uint8Array, observed: AttemptTimes): Uint8Array {
  const reader = new MessageReader(result, NAME)
  const others: Uint8Array[] = []
  const parts: Uint8Array[] = []
  while (reader.next()) {
    const { start } = reader
    if (reader.field === METADATA_FIELD) parts.push(reader.view())
    else {
      reader.skip()
      others.push(result.subarray(start, reader.at))
    }
  }
  const metadata = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
  const added = missingMetadata(metadata, observed)
  if (added.length === 0) return result
  const length = metadata.length + added.length
  const head = Buffer.allocUnsafe(fieldLength(length) - length)
  putHead(head, 0, METADATA_TAG, length)
  return Buffer.concat([...others, head, metadata, added])
}

/** Field numbers of ExecutedActionMetadata. */
const WORKER = 1
const QUEUED = 2
const WORKER_START = 3
const OUTPUT_UPLOAD_COMPLETED = 10

function missingMetadata(metadata: Uint8Array, observed: AttemptTimes): Uint8Array {
  const { assignedAt, startedAt, endedAt } = observed
  const reader = new MessageReader(metadata, 'ExecutedActionMetadata')
  const fields = new Set<number>()
  let workerStartMs = assignedAt
  while (reader.next()) {
    fields.add(reader.field)
    if (reader.field === WORKER_START) workerStartMs = reader.time()
    else reader.skip()
  }
  const hasTimes = [...fields].some((field) => field >= WORKER_START && field <= OUTPUT_UPLOAD_COMPLETED)
  const added: Uint8Array[] = []
  if (!fields.has(WORKER) && observed.worker !== '') added.push(textField(WORKER_TAG, observed.worker))
  // The clocks of server and worker differ: no phase may begin before the task was queued.
  if (!fields.has(QUEUED)) added.push(timeField(QUEUED, Math.min(observed.queuedAt, workerStartMs)))
  // Worker start and end, input fetch, execution, output upload: in the order of the fields from 3 to 10.
  const times = [assignedAt, endedAt, assignedAt, startedAt, startedAt, endedAt, endedAt, endedAt]
  if (!hasTimes) added.push(...times.map((ms, index) => timeField(WORKER_START + index, ms)))
  return Buffer.concat(added)
}

function textField(tag: number, text: string): Uint8Array {
  const bytes = Buffer.from(text)
  const out = Buffer.allocUnsafe(fieldLength(bytes.length))
  putField(out, 0, tag, bytes)
  return out
}

const SECONDS_TAG = 0x08
const NANOS_TAG = 0x10

/** A field with a google.protobuf.Timestamp. As proto3 demands, a part that is 0 is not encoded. */
function timeField(field: number, ms: number): Uint8Array {
  const { seconds, nanos } = timestampOf(ms)
  const parts = [
    [SECONDS_TAG, seconds],
    [NANOS_TAG, nanos],
  ].filter(([, value]) => value !== 0) as [number, number][]
  const length = parts.reduce((sum, [, value]) => sum + 1 + varintLength(value), 0)
  const out = Buffer.allocUnsafe(fieldLength(length))
  let at = putHead(out, 0, (field << 3) | 2, length)
  for (const [tag, value] of parts) {
    out[at] = tag
    at = putVarint(out, at + 1, value)
  }
  return out
}
