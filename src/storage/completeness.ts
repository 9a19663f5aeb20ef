import type { DigestList } from '../base/digest.ts'
import { digestAt, digestListOf } from '../base/digest-list.ts'
import { FaultError } from '../base/fault.ts'
import type { ActionResultView } from '../wire/hot/action-result.ts'
import { References } from '../wire/hot/references.ts'
import type { BlobStore } from './blob-store.ts'
import { areHeld } from './held.ts'

/**
 * Whether everything that a result refers to is there: output files, streams, trees, and the files in those. Asking
 * touches each of them, so that what a client is told of stays long enough to be fetched.
 *
 * Most results have only files, and a store in this process knows of those at once: then there is no promise.
 */
export function isComplete(view: ActionResultView, blobs: BlobStore): boolean | Promise<boolean> {
  const held = areHeld(view.files, blobs)
  if (held === false || (view.trees.count === 0 && view.directories.count === 0)) return held
  return areTreesHeld(view, blobs, held)
}

async function areTreesHeld(
  view: ActionResultView,
  blobs: BlobStore,
  filesHeld: boolean | Promise<boolean>,
): Promise<boolean> {
  if (!(await filesHeld)) return false
  try {
    const references = new References(view.fn)
    if (!(await eachRead(view.trees, blobs, (bytes) => references.addTree(bytes)))) return false
    return (await areDirectoriesHeld(view.directories, blobs, references)) && areHeld(references.fileDigests(), blobs)
  } catch (error) {
    // Anybody may have stored something else where a tree should be: such a result is of no use to anybody.
    if (error instanceof FaultError && error.fault.kind === 'invalid') return false
    throw error
  }
}

/** Reads every blob of the list and hands it on; false when one is not there. */
async function eachRead(list: DigestList, blobs: BlobStore, read: (bytes: Uint8Array) => void): Promise<boolean> {
  let isWhole = true
  if (list.count > 0) {
    await blobs.readMany(list, {
      found: (_index, bytes) => read(bytes),
      absent() {
        isWhole = false
      },
    })
  }
  return isWhole
}

/** Directories as blobs of their own, level by level; each is looked at once. */
async function areDirectoriesHeld(roots: DigestList, blobs: BlobStore, references: References): Promise<boolean> {
  const known = new Set<string>()
  let level = roots
  while (level.count > 0) {
    const below = new References(level.fn)
    const isWhole = await eachRead(level, blobs, (bytes) => {
      references.addDirectory(bytes)
      below.addDirectory(bytes)
    })
    if (!isWhole) return false
    level = unseen(below.directoryDigests(), known)
  }
  return true
}

function unseen(list: DigestList, known: Set<string>): DigestList {
  const fresh = []
  for (let index = 0; index < list.count; index++) {
    const digest = digestAt(list, index)
    if (known.has(digest.hash)) continue
    known.add(digest.hash)
    fresh.push(digest)
  }
  return digestListOf(list.fn, fresh)
}
