import type { Digest } from '../base/digest.ts'
import { parseCasLocation } from '../model/cas-location.ts'
import type { StagedNode, Stager } from './stager.ts'
import type { TreeStore } from './tree-store.ts'

/** Data that is in the store already: uploaded by a client, or made by an earlier task. */
export const casStager = (trees: TreeStore): Stager => ({
  async find(location) {
    const named = parseCasLocation(location)
    if (named === undefined) return undefined
    if (named.kind === 'tree') return nodeAt(named.digest, named.path, trees)
    const { digest, executable } = named
    return (await trees.has(digest)) ? { kind: 'file', digest, executable } : undefined
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
