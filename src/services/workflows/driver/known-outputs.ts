import type { CommandOutputs } from '../../../model/command-task.ts'
import type { TreeStore } from '../../../stagers/tree-store.ts'

/** With more files it costs less to read the directory from the store than to encode it here. */
const MOST_FILES = 100

/**
 * Most commands leave a few files and nothing else. Then the list of outputs contains the whole directory, which need
 * not be read from the store; its digest proves that it is equal.
 */
export function recognizeOutputs({ root, files, symlinks }: CommandOutputs, trees: TreeStore): void {
  const isFlat = symlinks.length === 0 && files.every(({ path }) => !path.includes('/'))
  if (root === undefined || files.length > MOST_FILES || !isFlat) return
  if (new Set(files.map(({ path }) => path)).size < files.length) return // only a faulty worker reports this
  const named = files.map(({ path, digest, executable }) => ({ name: path, digest, executable, properties: undefined }))
  trees.recognize(root, { files: named, directories: [], symlinks: [], properties: undefined })
}
