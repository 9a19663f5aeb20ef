import type { DigestFunction } from '../../base/digest.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import { createHasher } from '../../base/hashing/create-hasher.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import {
  type CheckedOutputs,
  checkOutputs,
  contradiction,
  type Inlined,
  type NamedDirectory,
} from '../../wire/hot/output-check.ts'
import type { BlobStore } from '../blob-store.ts'
import { INLINE_BYTES } from '../bulk/bulk-pool.ts'
import { KnownTrees, treeBytes } from '../known-trees.ts'
import { walkDirectories } from '../read-blobs.ts'

/**
 * Checks that clients can use an ActionResult: its paths, its inline content and its output directories. Results are
 * checked when they arrive (from clients, workers or an upstream). Results that an earlier version stored are checked
 * when they are read. A result may name absent blobs: only-complete.ts checks those.
 */
export interface ResultCheckOptions extends ContentCheckOptions {
  readonly fn: DigestFunction
}

export interface ContentCheckOptions {
  readonly blobs: Pick<BlobStore, 'readMany'>
  /** Trees of this store that were checked before. */
  readonly known?: KnownTrees
  /** The most directories that a path may climb out of the working directory; 0 when that directory is unknown. */
  readonly mayClimb?: number
}

/** Throws `invalid`. */
export async function checkResult(bytes: Uint8Array, options: ResultCheckOptions): Promise<void> {
  await checkContents(checkOutputs(bytes, options.fn), options)
}

/** The part of `checkResult` that reads blobs and hashes. Throws `invalid`. */
export async function checkContents(outputs: CheckedOutputs, options: ContentCheckOptions): Promise<void> {
  const { climbs, inlined, directories } = outputs
  if (climbs > (options.mayClimb ?? 0)) throw invalid('an output path leads out of the working directory')
  if (inlined.length > 0) await checkInlined(inlined)
  for (const directory of directories) await checkOutputDirectory(directory, options)
}

/** Like `checkResult`, without output directories, for results whose completeness is checked next. */
export async function hasSoundOutputs(bytes: Uint8Array, fn: DigestFunction): Promise<boolean> {
  try {
    const { climbs, inlined } = checkOutputs(bytes, fn)
    if (climbs > 0) return false
    if (inlined.length > 0) await checkInlined(inlined)
    return true
  } catch (error) {
    if (error instanceof FaultError && error.fault.kind === 'invalid') return false
    throw error
  }
}

async function checkOutputDirectory(
  directory: NamedDirectory,
  { blobs, known = new KnownTrees() }: ContentCheckOptions,
) {
  const { tree, root } = directory
  const held = tree && (await treeBytes(tree, blobs))
  if (tree !== undefined && held !== undefined) await known.check({ ...directory, tree }, held)
  if (root !== undefined) await walkDirectories([root], blobs, { absent: () => true })
}

async function checkInlined(inlined: readonly Inlined[]): Promise<void> {
  for (const each of inlined) {
    const { bytes, digest } = each
    const hash = bytes.length <= INLINE_BYTES ? digestOf(digest.fn, bytes).hash : await hashInSlices(bytes, digest.fn)
    if (hash !== digest.hash) throw contradiction(each)
  }
}

/** Yields to other calls between two slices. */
async function hashInSlices(bytes: Uint8Array, fn: DigestFunction): Promise<string> {
  const hasher = createHasher(fn)
  for (let at = 0; at < bytes.length; at += INLINE_BYTES) {
    hasher.update(bytes.subarray(at, at + INLINE_BYTES))
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return Buffer.from(hasher.digest()).toString('hex')
}
