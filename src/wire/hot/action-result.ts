import type { DigestFunction, DigestList } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { fieldLength, putField, putHead } from '../messages/message-writer.ts'
import { DigestListReader, PendingDigest } from './digest-reader.ts'

/**
 * An ActionResult as the bytes that a client or a worker sent, and never anything else: what we do not know in it goes
 * out again as it came in. `viewActionResult` reads what a cache must know; `withWorker`, and `withInlined` in
 * inline-outputs.ts, add to the bytes by splicing. A scalar field is added at the end, for the last one counts. A
 * nested message is put in the place of the old one: that a second one is merged into the first is the rule, but not
 * every client keeps it.
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

/** Steps over an OutputFile but for its digest. */
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

const WORKER = 0x0a
const EXECUTION_METADATA = 0x4a

/** Says who made the result, where it does not say so itself. A result is then never empty, as the protocol demands. */
export function withWorker(view: ActionResultView, worker: string): Uint8Array {
  const { bytes } = view
  if (view.hasWorker) return bytes
  const name = Buffer.from(worker)
  const reader = new MessageReader(bytes, NAME)
  let old: Place = { start: bytes.length, from: bytes.length, end: bytes.length }
  while (reader.next()) {
    if (reader.field !== 9) reader.skip()
    else old = placeOf(reader)
  }
  const length = old.end - old.from + fieldLength(name.length)
  const out = Buffer.allocUnsafe(bytes.length - (old.end - old.start) + fieldLength(length))
  out.set(bytes.subarray(0, old.start), 0)
  let at = putHead(out, old.start, EXECUTION_METADATA, length)
  out.set(bytes.subarray(old.from, old.end), at)
  at = putField(out, at + (old.end - old.from), WORKER, name)
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
