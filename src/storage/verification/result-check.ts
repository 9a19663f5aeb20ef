import type { DigestFunction } from '../../base/digest.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import { createHasher } from '../../base/hashing/create-hasher.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import { checkOutputs, contradiction, type Inlined, type NamedDirectory } from '../../wire/hot/output-check.ts'
import type { BlobStore } from '../blob-store.ts'
import { INLINE_BYTES } from '../bulk/bulk-pool.ts'
import { KnownTrees, treeBytes } from '../known-trees.ts'
import { walkDirectories } from '../walk-directories.ts'

/**
 * Whether clients can use an ActionResult: its paths, its inline content and its output directories. Checked where a
 * result comes in (from clients, from workers, from an upstream) and, for results that an earlier version stored, where
 * it goes out. A result names blobs that may not be there (yet): those are left to the check of completeness.
 */
export interface ResultCheckOptions {
  readonly fn: DigestFunction
  readonly blobs: Pick<BlobStore, 'readMany'>
  /** Trees of this store that were checked before. */
  readonly known?: KnownTrees
  /** How many directories a path may climb out of the working directory; 0 where that directory is not known. */
  readonly mayClimb?: number
}

/** Throws `invalid`. */
export async function checkResult(bytes: Uint8Array, options: ResultCheckOptions): Promise<void> {
  const { climbs, inlined, directories } = checkOutputs(bytes, options.fn)
  if (climbs > (options.mayClimb ?? 0)) throw invalid('an output path leads out of the working directory')
  if (inlined.length > 0) await checkInlined(inlined)
  for (const directory of directories) await checkOutputDirectory(directory, options)
}

/** The same without a look at output directories, for results that are about to be looked over as a whole. */
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
  { blobs, known = new KnownTrees() }: ResultCheckOptions,
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

/** Other calls have their turn between two slices. */
async function hashInSlices(bytes: Uint8Array, fn: DigestFunction): Promise<string> {
  const hasher = createHasher(fn)
  for (let at = 0; at < bytes.length; at += INLINE_BYTES) {
    hasher.update(bytes.subarray(at, at + INLINE_BYTES))
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return Buffer.from(hasher.digest()).toString('hex')
}
