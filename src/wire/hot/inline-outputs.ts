import type { DigestList } from '../../base/digest.ts'
import { ActionWish } from '../gen/windlass/task/v1/task.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { fieldLength, putHead, varintLength } from '../messages/message-writer.ts'
import type { ActionResultView, Place } from './action-result.ts'
import { DigestListReader, PendingDigest } from './digest-reader.ts'

/**
 * Small outputs inside the result itself, which saves the client the calls to fetch them. Three steps:
 * `inlineRequested` selects the blobs, the caller reads them, and `withInlined` inserts them into the bytes of the
 * result.
 */
export interface InlineOptions {
  readonly inlineStdout: boolean
  readonly inlineStderr: boolean
  readonly inlineOutputFiles: readonly string[]
}

/** A validated result. */
export type InlinedInto = Pick<ActionResultView, 'bytes' | 'fn'>

/** The blobs that a client requested inline; the caller reads them and passes them to `withInlined`. */
export interface Inlining {
  readonly digests: DigestList
  /** The place where blob `i` is inserted: into an output file, or at the end of the result under this tag. */
  readonly targets: readonly (Place | number)[]
}

const STDOUT_RAW = 0x2a
const STDERR_RAW = 0x3a
const OUTPUT_FILE = 0x12
const CONTENTS = 0x2a
/** Upper bound for the tags and lengths around a blob. */
const OVERHEAD = 16

interface Candidate {
  readonly digest: PendingDigest
  readonly target: Place | number
}

/** Selects outputs that are requested, not inline yet, not empty, and that keep the result within `maxBytes`. */
export function inlineRequested(view: InlinedInto, options: InlineOptions, maxBytes: number): Inlining {
  const reader = new MessageReader(view.bytes, 'ActionResult')
  const builder = new DigestListReader(view.fn)
  const targets: (Place | number)[] = []
  let room = maxBytes - view.bytes.length
  for (const { digest, target } of candidates(reader, options)) {
    const cost = digest.size + OVERHEAD
    if (digest.size === 0 || cost > room) continue
    room -= cost
    builder.add(digest, reader)
    targets.push(target)
  }
  return { digests: builder.list(view.fn), targets }
}

/** Standard output and standard error come first, because people read them. */
function candidates(reader: MessageReader, options: InlineOptions): Candidate[] {
  const paths = new Set(options.inlineOutputFiles)
  const stdout = new PendingDigest()
  const stderr = new PendingDigest()
  const files: Candidate[] = []
  let needsStdout = options.inlineStdout
  let needsStderr = options.inlineStderr
  while (reader.next()) {
    switch (reader.field) {
      case 2:
        if (paths.size > 0) files.push(...requestedFile(reader, paths))
        else reader.skip()
        break
      case 5:
        needsStdout = reader.view().length === 0 && needsStdout
        break
      case 6:
        stdout.merge(reader)
        break
      case 7:
        needsStderr = reader.view().length === 0 && needsStderr
        break
      case 8:
        stderr.merge(reader)
        break
      default:
        reader.skip()
    }
  }
  return [
    ...(needsStdout ? [{ digest: stdout, target: STDOUT_RAW }] : []),
    ...(needsStderr ? [{ digest: stderr, target: STDERR_RAW }] : []),
    ...files,
  ]
}

function requestedFile(reader: MessageReader, paths: ReadonlySet<string>): Candidate[] {
  const digest = new PendingDigest()
  const { start } = reader
  let path = ''
  let inline = false
  const outer = reader.enter()
  const from = reader.at
  while (reader.next()) {
    if (reader.field === 1) path = reader.text()
    else if (reader.field === 2) digest.merge(reader)
    else if (reader.field === 5) inline = reader.view().length > 0
    else reader.skip()
  }
  reader.leave(outer)
  return paths.has(path) && !inline ? [{ digest, target: { start, from, end: reader.at } }] : []
}

/** `blobs[i]` are the bytes of digest `i`; an undefined one is left out, and the client fetches it by its digest. */
export function withInlined(
  { bytes }: InlinedInto,
  { targets }: Inlining,
  blobs: readonly (Uint8Array | undefined)[],
): Uint8Array {
  const parts: Uint8Array[] = []
  let copied = 0
  const ends: Uint8Array[] = []
  for (const [index, target] of targets.entries()) {
    const blob = blobs[index]
    if (blob === undefined) continue
    if (typeof target === 'number') {
      ends.push(headOf(target, blob.length), blob)
      continue
    }
    const length = target.end - target.from + fieldLength(blob.length)
    parts.push(bytes.subarray(copied, target.start), headOf(OUTPUT_FILE, length))
    parts.push(bytes.subarray(target.from, target.end), headOf(CONTENTS, blob.length), blob)
    copied = target.end
  }
  return Buffer.concat([...parts, bytes.subarray(copied), ...ends])
}

const headOf = (tag: number, length: number): Uint8Array => {
  const head = new Uint8Array(1 + varintLength(length))
  putHead(head, 0, tag, length)
  return head
}

/** The server may ignore these options, so a longer list of output files is dropped. */
const MOST_OPTION_BYTES = 32 * 1024

/** The options as an operation keeps them. Undefined when the client requested nothing inline. */
export function inlineOptionsToProto(options: InlineOptions): Uint8Array | undefined {
  const bytes = ActionWish.encode(options).finish()
  if (bytes.length === 0) return undefined
  return bytes.length <= MOST_OPTION_BYTES ? bytes : ActionWish.encode({ ...options, inlineOutputFiles: [] }).finish()
}

export function inlineOptionsFromProto(bytes: Uint8Array | undefined): InlineOptions {
  const { inlineStdout, inlineStderr, inlineOutputFiles } = ActionWish.decode(bytes ?? new Uint8Array())
  return { inlineStdout, inlineStderr, inlineOutputFiles }
}
