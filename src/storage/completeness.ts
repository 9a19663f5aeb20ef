import type { DigestList } from '../base/digest.ts'
import { digestAt } from '../base/digest-list.ts'
import { FaultError } from '../base/fault.ts'
import { inTurns } from '../base/in-turns.ts'
import type { ActionResultView } from '../wire/hot/action-result.ts'
import { checkOutputs } from '../wire/hot/output-check.ts'
import { References } from '../wire/hot/references.ts'
import type { BlobStore } from './blob-store.ts'
import { areHeld } from './held.ts'
import { type KnownTrees, treeBytes } from './known-trees.ts'
import { walkDirectories } from './walk-directories.ts'

export interface CompletenessTools {
  readonly blobs: BlobStore
  readonly known: KnownTrees
}

/**
 * Whether everything that a result refers to is there: output files, streams, trees, and the files in those. Asking
 * touches each of them, so that what a client is told of stays long enough to be fetched. An output directory that no
 * client could unpack counts as absent.
 *
 * Most results have only files, and a store in this process knows of those at once: then there is no promise.
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
    // A client may have stored another blob where a tree should be: such a result is unusable.
    if (error instanceof FaultError && error.fault.kind === 'invalid') return false
    throw error
  }
}

/** Directories as blobs of their own. */
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
