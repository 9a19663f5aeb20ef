import type { Digest } from '../base/digest.ts'
import { digestListOf } from '../base/digest-list.ts'
import { invalid } from '../base/fault.ts'
import type { NamedDirectory } from '../wire/hot/output-check.ts'
import { type CheckedTree, checkTree } from '../wire/hot/tree-check.ts'
import type { BlobStore } from './blob-store.ts'

/** A Tree message is read as a whole, so this limits its memory. 64 MiB contain about 600,000 files. */
const MOST_TREE_BYTES = 64 * 1024 * 1024
const MOST_KNOWN = 4096

/** A cache of trees that were checked recently: the content of a digest never changes. */
export class KnownTrees {
  readonly #checked = new Map<string, CheckedTree>()

  /** Throws `invalid` for a Tree that no client could unpack, or that contradicts the result that refers to it. */
  async check({ tree, root, isSorted }: NamedDirectory & { readonly tree: Digest }, bytes: Uint8Array): Promise<void> {
    const checked = this.#checked.get(keyOf(tree)) ?? this.#remember(tree, await checkTree(bytes, tree.fn))
    if (isSorted && !checked.isSorted)
      throw invalid(`the result says that the tree ${nameOf(tree)} is topologically sorted, and it is not`)
    if (root !== undefined && nameOf(root) !== nameOf(checked.root))
      throw invalid(
        `an output directory names the root ${nameOf(root)}, and its tree has the root ${nameOf(checked.root)}`,
      )
  }

  #remember(tree: Digest, checked: CheckedTree): CheckedTree {
    const [oldest] = this.#checked.keys()
    if (this.#checked.size >= MOST_KNOWN && oldest !== undefined) this.#checked.delete(oldest)
    this.#checked.set(keyOf(tree), checked)
    return checked
  }
}

/** Returns undefined when the tree is absent. */
export async function treeBytes(tree: Digest, blobs: Pick<BlobStore, 'readMany'>): Promise<Uint8Array | undefined> {
  if (tree.size > MOST_TREE_BYTES)
    throw invalid(`the tree ${nameOf(tree)} has more than ${MOST_TREE_BYTES} bytes`, 'range')
  let whole: Uint8Array | undefined
  await blobs.readMany(digestListOf(tree.fn, [tree]), {
    found(_, bytes) {
      whole = Uint8Array.from(bytes)
    },
    absent() {},
  })
  return whole
}

const nameOf = ({ hash, size }: Digest): string => `${hash}/${size}`
const keyOf = (tree: Digest): string => `${tree.fn}/${nameOf(tree)}`
