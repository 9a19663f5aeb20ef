import type { DigestList } from '../../base/digest.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { fieldLength, putHead, varintLength } from '../messages/message-writer.ts'
import type { ActionResultView, Place } from './action-result.ts'
import { DigestListReader, PendingDigest } from './digest-reader.ts'

/**
 * Small outputs inside the result itself, which saves a client the calls to fetch them. Three steps: `inlineWanted`
 * says which blobs, the caller reads them, and `withInlined` splices them into the bytes of the result.
 */
export interface InlineOptions {
  readonly inlineStdout: boolean
  readonly inlineStderr: boolean
  readonly inlineOutputFiles: readonly string[]
}

/** A result of which it is known that it is one. */
export type InlinedInto = Pick<ActionResultView, 'bytes' | 'fn'>

/** Blobs that a client would like to have in the result itself; read them, and give them to `withInlined`. */
export interface Inlining {
  readonly digests: DigestList
  /** Where digest `i` goes: into an output file, or at the end under a tag. */
  readonly targets: readonly (Place | number)[]
}

const STDOUT_RAW = 0x2a
const STDERR_RAW = 0x3a
const OUTPUT_FILE = 0x12
const CONTENTS = 0x2a
/** What a blob costs beyond its own bytes: tags and lengths, generously. */
const OVERHEAD = 16

interface Candidate {
  readonly digest: PendingDigest
  readonly target: Place | number
}

/** Only what is wished for, is not there already, is not empty, and leaves the result within `maxBytes`. */
export function inlineWanted(view: InlinedInto, wish: InlineOptions, maxBytes: number): Inlining {
  const reader = new MessageReader(view.bytes, 'ActionResult')
  const builder = new DigestListReader(view.fn)
  const targets: (Place | number)[] = []
  let room = maxBytes - view.bytes.length
  for (const { digest, target } of candidates(reader, wish)) {
    const cost = digest.size + OVERHEAD
    if (digest.size === 0 || cost > room) continue
    room -= cost
    builder.add(digest, reader)
    targets.push(target)
  }
  return { digests: builder.list(view.fn), targets }
}

/** The streams come first: they are what a person reads. */
function candidates(reader: MessageReader, wish: InlineOptions): Candidate[] {
  const paths = new Set(wish.inlineOutputFiles)
  const stdout = new PendingDigest()
  const stderr = new PendingDigest()
  const files: Candidate[] = []
  let wantsStdout = wish.inlineStdout
  let wantsStderr = wish.inlineStderr
  while (reader.next()) {
    switch (reader.field) {
      case 2:
        if (paths.size > 0) files.push(...wantedFile(reader, paths))
        else reader.skip()
        break
      case 5:
        wantsStdout = reader.view().length === 0 && wantsStdout
        break
      case 6:
        stdout.merge(reader)
        break
      case 7:
        wantsStderr = reader.view().length === 0 && wantsStderr
        break
      case 8:
        stderr.merge(reader)
        break
      default:
        reader.skip()
    }
  }
  return [
    ...(wantsStdout ? [{ digest: stdout, target: STDOUT_RAW }] : []),
    ...(wantsStderr ? [{ digest: stderr, target: STDERR_RAW }] : []),
    ...files,
  ]
}

function wantedFile(reader: MessageReader, paths: ReadonlySet<string>): Candidate[] {
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

/** `blobs[i]` are the bytes of `inlining.digests`; an undefined one is left out, for its digest is there anyway. */
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
