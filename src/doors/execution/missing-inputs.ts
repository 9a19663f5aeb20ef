import type { Digest, DigestList } from '../../base/digest.ts'
import { digestAt, digestListOf } from '../../base/digest-list.ts'
import { invalid } from '../../base/fault.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { References } from '../../wire/hot/references.ts'
import type { RecentTrees } from './recent-trees.ts'

/** What a tree may consist of: anybody may have uploaded it, and walking it must end. */
export interface TreeLimits {
  readonly maxDirectories: number
  readonly maxFiles: number
}

interface Ground {
  readonly blobs: BlobStore
  readonly limits: TreeLimits
  /** Given, directories that were seen whole a moment ago are not looked over again. */
  readonly recent?: RecentTrees
}

const MOST_DIRECTORY_BYTES = 16 * 1024 * 1024
/** Between two of these the rest of the process has its turn. */
const AT_A_TIME = { directories: 256, bytes: 1024 * 1024 }
/** More than anybody uploads before asking again. */
const MOST_TOLD = 10_000

/**
 * Which of the blobs, and of a tree from its root down, are not there. Asking touches all that are, so that they stay
 * until the task has read them. What is below a directory that is missing cannot be known.
 */
export async function missingInputs(
  others: readonly Digest[],
  root: Digest,
  { blobs, limits, recent }: Ground,
): Promise<Digest[]> {
  const found = new Map<string, Digest>()
  const known = new Set([nameOf(root)])
  let waiting: Digest[] = recent?.has(nameOf(root)) ? [] : [root]
  let files = 0
  await noteAbsent(digestListOf(root.fn, others), blobs, found)
  while (waiting.length > 0 && found.size < MOST_TOLD) {
    const turn = turnOf(waiting)
    const references = await readDirectories(waiting.slice(0, turn), blobs, found)
    waiting = waiting.slice(turn)
    const below = references.fileDigests()
    files += below.count
    if (files > limits.maxFiles) throw tooLarge(`${limits.maxFiles} files`)
    await noteAbsent(below, blobs, found)
    const children = references.directoryDigests()
    for (let index = 0; index < children.count; index++) {
      const child = digestAt(children, index)
      const name = nameOf(child)
      if (known.has(name) || recent?.has(name)) continue
      known.add(name)
      waiting.push(child)
    }
    if (known.size > limits.maxDirectories) throw tooLarge(`${limits.maxDirectories} directories`)
    if (waiting.length > 0) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  if (found.size === 0) recent?.add(known)
  return [...found.values()].slice(0, MOST_TOLD)
}

/** How many at once: at least one, however large. */
function turnOf(waiting: readonly Digest[]): number {
  let bytes = 0
  const end = waiting.findIndex(({ size }, index) => {
    bytes += size
    return index > 0 && (index >= AT_A_TIME.directories || bytes > AT_A_TIME.bytes)
  })
  return end === -1 ? waiting.length : end
}

const nameOf = ({ fn, hash, size }: Digest): string => `${fn}/${hash}/${size}`

const tooLarge = (what: string) => invalid(`the tree of inputs has more than ${what}`)

async function readDirectories(
  digests: readonly Digest[],
  blobs: BlobStore,
  found: Map<string, Digest>,
): Promise<References> {
  const [first] = digests as [Digest]
  const huge = digests.find(({ size }) => size > MOST_DIRECTORY_BYTES)
  if (huge !== undefined) throw invalid(`a directory of ${huge.size} bytes is among the inputs`)
  const references = new References(first.fn)
  await blobs.readMany(digestListOf(first.fn, digests), {
    found: (_, bytes) => references.addDirectory(bytes),
    absent(index) {
      const digest = digests[index] as Digest
      found.set(nameOf(digest), digest)
    },
  })
  return references
}

async function noteAbsent(list: DigestList, blobs: BlobStore, found: Map<string, Digest>): Promise<void> {
  if (list.count === 0) return
  const absent = new Uint8Array(list.count)
  await blobs.missing(list, absent)
  for (let index = absent.indexOf(1); index >= 0 && found.size < MOST_TOLD; index = absent.indexOf(1, index + 1)) {
    const digest = digestAt(list, index)
    found.set(nameOf(digest), digest)
  }
}
