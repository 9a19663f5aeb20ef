import type { Clock } from '../../base/clock.ts'
import type { BlobStore } from '../../storage/blob-store.ts'

/**
 * Directories that were just seen with everything below them. The actions of a build have most of their inputs in
 * common, and looking each of them over again for every action would cost more than all else that is done for it. What
 * was seen was touched as well, so it is not the next to go; and should it be gone all the same, the worker finds out
 * and the client is told, only later.
 */
export interface RecentTrees {
  has(directory: string): boolean
  add(directories: Iterable<string>): void
  /** Something was gone: nothing is taken for granted any more. */
  clear(): void
}

/** Nothing is remembered for more than twice this. */
const GENERATION_MS = 5000
const MOST_REMEMBERED = 50_000

function recentTrees(clock: Clock): RecentTrees {
  let young = new Set<string>()
  let old = new Set<string>()
  let since = clock.monotonic()
  const age = (): void => {
    const passed = clock.monotonic() - since
    if (passed < GENERATION_MS) return
    old = passed < 2 * GENERATION_MS ? young : new Set()
    young = new Set()
    since = clock.monotonic()
  }
  return {
    has(directory) {
      age()
      return young.has(directory) || old.has(directory)
    },
    add(directories) {
      age()
      for (const directory of directories) {
        if (young.size >= MOST_REMEMBERED) return
        young.add(directory)
      }
    },
    clear() {
      young.clear()
      old.clear()
    },
  }
}

/** What is in one store need not be in another. */
export function recentTreesOf(clock: Clock): (blobs: BlobStore) => RecentTrees {
  const byStore = new WeakMap<BlobStore, RecentTrees>()
  return (blobs) => {
    const known = byStore.get(blobs) ?? recentTrees(clock)
    byStore.set(blobs, known)
    return known
  }
}
