import type { CommandOutputs } from '../../../model/command-task.ts'
import type { TreeStore } from '../../../stagers/tree-store.ts'

/** More are read: to name them twice would cost more. */
const MOST_FILES = 100

/**
 * Most commands leave a few files and nothing else. Then their names and digests are all that the directory says, and it
 * need not be read from the store; whether that is so, its digest tells.
 */
export function recognizeOutputs({ root, files, symlinks }: CommandOutputs, trees: TreeStore): void {
  const isFlat = symlinks.length === 0 && files.every(({ path }) => !path.includes('/'))
  if (root === undefined || files.length > MOST_FILES || !isFlat) return
  if (new Set(files.map(({ path }) => path)).size < files.length) return // only a faulty worker reports this
  const named = files.map(({ path, digest, executable }) => ({ name: path, digest, executable, properties: undefined }))
  trees.recognize(root, { files: named, directories: [], symlinks: [], properties: undefined })
}
