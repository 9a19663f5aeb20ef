import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import type { Directory } from '../../model/directory.ts'
import type { NodeProperties } from '../../model/node-properties.ts'
import type { DirectoryCache } from './directory-cache.ts'

/** Everything that is to be in a room, by paths from its root. Directories come before what is in them. */
export interface InputPlan {
  readonly directories: readonly PlannedDirectory[]
  readonly files: readonly PlannedFile[]
  readonly symlinks: readonly PlannedSymlink[]
  /** Directories that nobody has; what is in them is not in the plan. */
  readonly missing: readonly Digest[]
}

export interface PlannedDirectory {
  readonly path: string
  readonly properties: NodeProperties | undefined
}

export interface PlannedFile {
  readonly path: string
  readonly digest: Digest
  readonly executable: boolean
  readonly properties: NodeProperties | undefined
  /** Undefined for the way of a tree: shared files are closed to writing, and copies open. */
  readonly writable?: boolean
}

export interface PlannedSymlink {
  readonly path: string
  readonly target: string
  readonly properties: NodeProperties | undefined
}

export interface PlanRules {
  /** A few messages can name more files than there are atoms: a directory that holds the next one twice, 90 times over. */
  readonly mostNodes: number
  readonly absoluteSymlinks: 'allowed' | 'disallowed'
}

interface Planning {
  readonly cache: DirectoryCache
  readonly rules: PlanRules
}

const DIRECTORIES_AT_ONCE = 2000

/** Walks a tree level by level, asking for as many directories at a time as it can. Names were checked as they were read. */
export async function planInputs(root: Digest, { cache, rules }: Planning, signal: AbortSignal): Promise<InputPlan> {
  const plan = { directories: [] as PlannedDirectory[], files: [] as PlannedFile[], symlinks: [] as PlannedSymlink[] }
  const missing = new Map<string, Digest>()
  let waiting: { readonly path: string; readonly digest: Digest }[] = [{ path: '', digest: root }]
  while (waiting.length > 0) {
    signal.throwIfAborted()
    const some = waiting.slice(0, DIRECTORIES_AT_ONCE)
    waiting = waiting.slice(DIRECTORIES_AT_ONCE)
    const unique = new Map(some.map(({ digest }) => [formatDigest(digest), digest]))
    const found = await cache.get([...unique.values()], signal)
    for (const { path, digest } of some) {
      const directory = found.get(formatDigest(digest))
      if (directory === undefined) missing.set(formatDigest(digest), digest)
      else waiting.push(...addDirectory(plan, { path, directory }, rules))
    }
    mustBeFinite(plan, waiting.length, rules)
  }
  return { ...plan, missing: [...missing.values()] }
}

type Growing = { readonly [K in 'directories' | 'files' | 'symlinks']: InputPlan[K][number][] }

function addDirectory(
  plan: Growing,
  { path, directory }: { readonly path: string; readonly directory: Directory },
  rules: PlanRules,
): { path: string; digest: Digest }[] {
  const inside = (name: string): string => (path === '' ? name : `${path}/${name}`)
  plan.directories.push({ path, properties: directory.properties })
  for (const { name, digest, executable, properties } of directory.files)
    plan.files.push({ path: inside(name), digest, executable, properties })
  for (const { name, target, properties } of directory.symlinks) {
    mustBeTarget(inside(name), target, rules)
    plan.symlinks.push({ path: inside(name), target, properties })
  }
  return directory.directories.map(({ name, digest }) => ({ path: inside(name), digest }))
}

function mustBeTarget(path: string, target: string, { absoluteSymlinks }: PlanRules): void {
  const named = JSON.stringify(path.slice(0, 200))
  if (target === '' || target.includes('\0')) throw invalid(`the symlink ${named} leads nowhere`)
  if (target.startsWith('/') && absoluteSymlinks === 'disallowed') throw invalid(`the symlink ${named} is absolute`)
}

function mustBeFinite(plan: Growing, waiting: number, { mostNodes }: PlanRules): void {
  const nodes = plan.directories.length + plan.files.length + plan.symlinks.length + waiting
  if (nodes > mostNodes) throw invalid(`the tree of inputs has more than ${mostNodes} files and directories`)
}
