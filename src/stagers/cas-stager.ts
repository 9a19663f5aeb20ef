import type { Digest } from '../base/digest.ts'
import { invalid } from '../base/fault.ts'
import { fileLocation, parseCasLocation, treeLocation } from '../model/cas-location.ts'
import { BLOB_STORE, type StagedNode, type Stager } from './stager.ts'
import type { TreeStore } from './tree-store.ts'

/** Serves `cas:` locations: data that a client has uploaded, or that an earlier task has written, to the blob store. */
export const casStager = (trees: TreeStore): Stager => ({
  async find(location) {
    const named = parseCasLocation(location)
    if (named === undefined) return undefined
    if (named.kind === 'tree') return nodeAt(named.digest, named.path, trees)
    const { digest, executable } = named
    return (await trees.has(digest)) ? { kind: 'file', digest, executable } : undefined
  },
  async put(node, to) {
    if (!to.startsWith(BLOB_STORE)) throw invalid(`${to} is not a location of the blob store`, 'unsupported')
    return node.kind === 'file' ? fileLocation(node.digest, node.executable) : treeLocation(node.digest)
  },
  named(location) {
    const named = parseCasLocation(location)
    return named && { kind: named.kind === 'file' ? 'file' : 'directory', digest: named.digest }
  },
})

async function nodeAt(
  root: Digest,
  path: readonly string[],
  trees: Pick<TreeStore, 'directory'>,
): Promise<StagedNode | undefined> {
  let at = root
  for (const [index, name] of path.entries()) {
    const directory = await trees.directory(at)
    const below = directory?.directories.find((one) => one.name === name)
    const file = directory?.files.find((one) => one.name === name)
    if (below === undefined) {
      const isLast = index === path.length - 1
      return file !== undefined && isLast
        ? { kind: 'file', digest: file.digest, executable: file.executable }
        : undefined
    }
    at = below.digest
  }
  return (await trees.directory(at)) === undefined ? undefined : { kind: 'directory', digest: at }
}
