import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'
import type { Directory } from '../../model/directory.ts'
import { directoryFromProto } from '../../wire/reapi/directory.ts'
import { fromServer } from '../connection/server-fault.ts'
import { type DirectorySource, sharedBy, type Trim } from './remote-tree.ts'

/** Limits for the files that a download creates. */
export interface TreeSizeLimits {
  readonly mostEntries: number
  readonly mostBytes: number
}

/** `mostBytes` is as large as the outputs that our own workers collect. */
export const TREE_LIMITS: TreeSizeLimits = { mostEntries: 1_000_000, mostBytes: 64 * 1024 ** 3 }

export interface TreeTotals {
  /** Files, directories and symlinks; a directory that the tree has twice counts twice, with all below it. */
  readonly entries: number
  readonly bytes: number
}

/** A tree whose directories have all been read: its size is known, but nothing has been created yet. */
export interface MeasuredTree {
  readonly root: Digest
  readonly source: DirectorySource
  readonly totals: TreeTotals
}

interface Measuring {
  readonly source: DirectorySource
  readonly trim: Trim | undefined
  readonly limits: TreeSizeLimits
}

/** A directory of the tree, once, however often the tree has it. */
interface Node extends TreeTotals {
  readonly children: readonly string[]
}

interface Waiting {
  readonly key: string
  readonly digest: Digest
  /** Where trimming depends on the path, a directory is measured once for each of its paths. */
  readonly path: string | undefined
}

/**
 * A directory can hold the next one twice, 90 times over: a few kilobytes then name more files than any disk holds.
 * So each distinct directory is read once, and the totals are computed bottom-up, without walking the tree.
 */
export async function measureTree(root: Digest, { source, trim, limits }: Measuring): Promise<MeasuredTree> {
  const nodes = new Map<string, Node>()
  const known = new Map<string, Uint8Array>()
  const waiting: Waiting[] = [{ key: '/', digest: root, path: trim === undefined ? undefined : '' }]
  const seen = new Set(['/'])
  let distinct = 0
  while (waiting.length > 0) {
    const some = waiting.splice(-sharedBy(waiting))
    const found = await source(some.map(({ digest }) => digest))
    for (const { key, digest, path } of some) {
      const bytes = found.get(formatDigest(digest)) as Uint8Array
      known.set(formatDigest(digest), bytes)
      const whole = fromServer((message) => directoryFromProto(message, root.fn))(bytes)
      const directory = path === undefined ? whole : (trim?.(path, whole) ?? whole)
      // A trimmed directory may have trimmed descendants; an untrimmed one is the same everywhere.
      const children = childrenOf(directory, directory === whole ? undefined : path)
      const own = ownTotals(directory)
      nodes.set(key, { ...own, children: children.map((child) => child.key) })
      // Every distinct directory is there at least once: no need to read on when these alone are too many.
      distinct += own.entries
      mustFit({ entries: distinct, bytes: 0 }, limits)
      for (const child of children) {
        if (seen.has(child.key)) continue
        seen.add(child.key)
        waiting.push(child)
      }
    }
  }
  return { root, source: async () => known, totals: totalsOf('/', nodes) }
}

const childrenOf = ({ directories }: Directory, path: string | undefined): Waiting[] =>
  directories.map(({ name, digest }) => {
    if (path === undefined) return { key: formatDigest(digest), digest, path }
    const below = path === '' ? name : `${path}/${name}`
    return { key: `/${below}`, digest, path: below }
  })

const ownTotals = ({ files, directories, symlinks }: Directory): TreeTotals => ({
  entries: files.length + directories.length + symlinks.length,
  bytes: files.reduce((sum, { digest }) => sum + digest.size, 0),
})

/** Children first, without recursion: a tree may be deeper than the stack. */
function totalsOf(root: string, nodes: ReadonlyMap<string, Node>): TreeTotals {
  const done = new Map<string, TreeTotals>()
  const stack = [root]
  while (stack.length > 0) {
    const key = stack.at(-1) as string
    const node = nodes.get(key) as Node
    const open = done.has(key) ? [] : node.children.filter((child) => !done.has(child))
    for (const child of open) stack.push(child)
    if (open.length > 0) continue
    stack.pop()
    // Many directories may have pushed it; it is summed up once.
    if (!done.has(key)) done.set(key, sumOf([node, ...node.children.map((child) => done.get(child) as TreeTotals)]))
  }
  return done.get(root) as TreeTotals
}

export const sumOf = (all: readonly TreeTotals[]): TreeTotals => ({
  entries: all.reduce((sum, { entries }) => sum + entries, 0),
  bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
})

/** To be called before anything is created. */
export function mustFit({ entries, bytes }: TreeTotals, { mostEntries, mostBytes }: TreeSizeLimits): void {
  if (entries > mostEntries)
    throw tooMuch(`${numberText(entries)} files, directories and symlinks`, mostEntries, '--max-entries')
  if (bytes > mostBytes) throw tooMuch(`${numberText(bytes)} bytes`, mostBytes, '--max-bytes')
}

const tooMuch = (what: string, most: number, flag: string): FaultError =>
  new FaultError({
    kind: 'denied',
    what: `the tree has at least ${what}, and the limit is ${most}: nothing was written; ${flag} raises the limit`,
  })

const numberText = (number: number): string => (number < 1e15 ? String(number) : number.toExponential(1))
