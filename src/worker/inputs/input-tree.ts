import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import type { Directory } from '../../model/directory.ts'
import { Turns } from '../rooms/pacing.ts'
import type { DirectoryCache } from './directory-cache.ts'

/** The distinct directories of a tree. */
export interface InputTree {
  /** By `formatDigest`. */
  readonly directories: ReadonlyMap<string, Directory>
  /** Directories that the store does not have. */
  readonly missing: readonly Digest[]
}

interface Reading {
  readonly cache: DirectoryCache
  /** How many files, directories and symlinks the tree may have, each counted at every path that it has. */
  readonly mostNodes: number
}

const DIRECTORIES_AT_ONCE = 2000

/**
 * Reads each distinct directory once. A directory can contain the next one twice, 90 levels deep, so that a few
 * messages name more files than any disk can hold. So the total is computed bottom-up, and a tree with too many nodes
 * throws `invalid` before any of its paths is processed.
 */
export async function readInputTree(
  root: Digest,
  { cache, mostNodes }: Reading,
  signal: AbortSignal,
): Promise<InputTree> {
  const directories = new Map<string, Directory>()
  const missing: Digest[] = []
  const seen = new Set([formatDigest(root)])
  const waiting = [root]
  const turns = new Turns(signal)
  let distinct = 0
  for (let at = 0; at < waiting.length; ) {
    const some = waiting.slice(at, at + DIRECTORIES_AT_ONCE)
    at += some.length
    const found = await cache.get(some, signal)
    for (const digest of some) {
      const key = formatDigest(digest)
      const directory = found.get(key)
      if (directory === undefined) missing.push(digest)
      else {
        directories.set(key, directory)
        // A distinct directory occurs at least once.
        distinct += nodesIn(directory)
        if (distinct > mostNodes) throw tooMany(mostNodes)
        for (const child of directory.directories) addOnce(child.digest, seen, waiting)
      }
      await turns.next()
    }
  }
  if ((await nodesBelow(root, directories, turns)) > mostNodes) throw tooMany(mostNodes)
  return { directories, missing }
}

function addOnce(digest: Digest, seen: Set<string>, waiting: Digest[]): void {
  const key = formatDigest(digest)
  if (seen.has(key)) return
  seen.add(key)
  waiting.push(digest)
}

/** Visits children first, without recursion, because a tree may be deeper than the stack. */
async function nodesBelow(root: Digest, directories: ReadonlyMap<string, Directory>, turns: Turns): Promise<number> {
  const done = new Map<string, number>()
  const stack = [formatDigest(root)]
  for (let key = stack.at(-1); key !== undefined; key = stack.at(-1)) {
    const directory = done.has(key) ? undefined : directories.get(key)
    const children = directory?.directories.map(({ digest }) => formatDigest(digest)) ?? []
    const open = children.filter((child) => !done.has(child))
    for (const child of open) stack.push(child)
    if (open.length === 0) {
      stack.pop()
      if (!done.has(key))
        done.set(
          key,
          children.reduce((sum, child) => sum + (done.get(child) ?? 0), nodesIn(directory)),
        )
    }
    await turns.next()
  }
  return done.get(formatDigest(root)) ?? 0
}

/** The content of a missing directory is unknown. */
const nodesIn = (directory: Directory | undefined): number =>
  directory === undefined ? 0 : directory.files.length + directory.directories.length + directory.symlinks.length

const tooMany = (mostNodes: number) => invalid(`the input tree has more than ${mostNodes} files and directories`)
