import type { Digest, DigestList } from '../../base/digest.ts'
import { digestAt, digestListOf, partOf } from '../../base/digest-list.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import { eachInTurns, turn } from '../../base/in-turns.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { directoryGroup } from '../../storage/directory-groups.ts'
import { References } from '../../wire/hot/references.ts'
import type { RecentTrees } from './recent-trees.ts'

/** What a tree may consist of: anybody may have uploaded it, and walking it must end. */
export interface InputTreeLimits {
  readonly maxDirectories: number
  readonly maxFiles: number
}

interface Ground {
  readonly blobs: BlobStore
  readonly limits: InputTreeLimits
  /** Given, directories that were seen whole a moment ago are not looked over again. */
  readonly recent?: RecentTrees
  /** The call that asks, where one does: the walk ends with it, be it by its deadline. */
  readonly call?: { readonly cancelled: boolean }
}

/** Files that are looked up between two pauses: about 3 ms of work. */
const LOOKED_UP_AT_A_TIME = 16_384
/** More than anybody uploads before asking again. */
const MOST_TOLD = 10_000

/**
 * Which of the blobs, and of a tree from its root down, are not there. Asking touches all that are, so that they stay
 * until the task has read them. What is below a directory that is missing cannot be known.
 */
export async function missingInputs(
  others: readonly Digest[],
  root: Digest,
  { blobs, limits, recent, call }: Ground,
): Promise<Digest[]> {
  const found = new Map<string, Digest>()
  const known = new Set([nameOf(root)])
  const waiting: Digest[] = recent?.has(nameOf(root)) ? [] : [root]
  const wait = (child: Digest): void => {
    const name = nameOf(child)
    if (known.has(name) || recent?.has(name)) return
    if (known.size >= limits.maxDirectories) throw tooLarge(`${limits.maxDirectories} directories`)
    known.add(name)
    waiting.push(child)
  }
  let files = 0
  await noteAbsent(digestListOf(root.fn, others), blobs, found)
  for (let at = 0; at < waiting.length && found.size < MOST_TOLD; ) {
    if (call?.cancelled === true) throw callEnded()
    const group = directoryGroup(waiting, at)
    at += group.length
    const references = await readDirectories(group, blobs, found)
    const below = references.fileDigests()
    files += below.count
    if (files > limits.maxFiles) throw tooLarge(`${limits.maxFiles} files`)
    await noteAbsent(below, blobs, found)
    await eachInTurns(references.directoryDigests(), wait)
    if (at < waiting.length) await turn()
  }
  if (found.size === 0) recent?.add(known)
  return [...found.values()].slice(0, MOST_TOLD)
}

const nameOf = ({ fn, hash, size }: Digest): string => `${fn}/${hash}/${size}`

const tooLarge = (what: string) => invalid(`the tree of inputs has more than ${what}`)

const callEnded = () =>
  new FaultError({ kind: 'cancelled', what: 'the call ended before its tree of inputs was read to the end' })

async function readDirectories(
  digests: readonly Digest[],
  blobs: BlobStore,
  found: Map<string, Digest>,
): Promise<References> {
  const [first] = digests as [Digest]
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
  for (let at = 0; at < list.count; at += LOOKED_UP_AT_A_TIME) {
    if (at > 0) await turn()
    const part = partOf(list, at, LOOKED_UP_AT_A_TIME)
    const absent = new Uint8Array(part.count)
    await blobs.missing(part, absent)
    for (let index = absent.indexOf(1); index >= 0 && found.size < MOST_TOLD; index = absent.indexOf(1, index + 1)) {
      const digest = digestAt(part, index)
      found.set(nameOf(digest), digest)
    }
  }
}
