import type { DigestList } from '../base/digest.ts'
import { digestAt } from '../base/digest-list.ts'
import { FaultError } from '../base/fault.ts'
import { inTurns } from '../base/in-turns.ts'
import type { ActionResultView } from '../wire/hot/action-result.ts'
import { References } from '../wire/hot/digest-reader.ts'
import { checkOutputs } from '../wire/hot/output-check.ts'
import type { BlobStore } from './blob-store.ts'
import { type KnownTrees, treeBytes } from './known-trees.ts'
import { areHeld, walkDirectories } from './read-blobs.ts'

export interface CompletenessTools {
  readonly blobs: BlobStore
  readonly known: KnownTrees
}

/**
 * Whether all blobs that a result refers to are stored: output files, streams, trees, and the files of the trees.
 * Touches each of them, so that they are not evicted before the client has downloaded them. An output directory that no
 * client could unpack counts as absent.
 *
 * Most results have only files, and a store in this process checks those synchronously: then there is no promise.
 */
export function isComplete(view: ActionResultView, tools: CompletenessTools): boolean | Promise<boolean> {
  const held = areHeld(view.files, tools.blobs)
  if (held === false || (view.trees.count === 0 && view.directories.count === 0)) return held
  return areTreesHeld(view, tools, held)
}

async function areTreesHeld(
  view: ActionResultView,
  { blobs, known }: CompletenessTools,
  filesHeld: boolean | Promise<boolean>,
): Promise<boolean> {
  if (!(await filesHeld)) return false
  try {
    const references = new References(view.fn)
    for (const { tree, ...directory } of checkOutputs(view.bytes, view.fn).directories) {
      if (tree === undefined) continue
      const bytes = await treeBytes(tree, blobs)
      if (bytes === undefined) return false
      await known.check({ tree, ...directory }, bytes)
      await inTurns(references.addTree(bytes))
    }
    return (await areDirectoriesHeld(view.directories, blobs, references)) && areHeld(references.fileDigests(), blobs)
  } catch (error) {
    // A client may have stored another blob under the digest of a tree: such a result is unusable.
    if (error instanceof FaultError && error.fault.kind === 'invalid') return false
    throw error
  }
}

/** Checks directories that are stored as separate blobs. */
async function areDirectoriesHeld(roots: DigestList, blobs: BlobStore, references: References): Promise<boolean> {
  let isWhole = true
  await walkDirectories(
    Array.from({ length: roots.count }, (_, index) => digestAt(roots, index)),
    blobs,
    {
      found: (bytes) => references.addDirectory(bytes),
      absent() {
        isWhole = false
        return false
      },
    },
  )
  return isWhole
}
