import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import type { Directory } from '../../model/directory.ts'
import type { NodeProperties } from '../../model/node-properties.ts'
import { Turns } from '../rooms/pacing.ts'
import type { DirectoryCache } from './directory-cache.ts'
import { readInputTree } from './input-tree.ts'

/** The contents of a room, by paths from its root. Directories come before their entries. */
export interface InputPlan {
  readonly directories: readonly PlannedDirectory[]
  readonly files: readonly PlannedFile[]
  readonly symlinks: readonly PlannedSymlink[]
  /** Absent directories; their entries are not in the plan. */
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
  /** Undefined for files of a tree: they are read-only. */
  readonly writable?: boolean
}

export interface PlannedSymlink {
  readonly path: string
  readonly target: string
  readonly properties: NodeProperties | undefined
}

export interface PlanRules {
  /** Files, directories and symlinks, each counted at every path that it has. */
  readonly mostNodes: number
  readonly absoluteSymlinks: 'allowed' | 'disallowed'
}

interface Planning {
  readonly cache: DirectoryCache
  readonly rules: PlanRules
}

/** Does not check names: reading the directories has checked them. */
export async function planInputs(root: Digest, { cache, rules }: Planning, signal: AbortSignal): Promise<InputPlan> {
  const { directories, missing } = await readInputTree(root, { cache, mostNodes: rules.mostNodes }, signal)
  const plan = { directories: [] as PlannedDirectory[], files: [] as PlannedFile[], symlinks: [] as PlannedSymlink[] }
  const waiting: { readonly path: string; readonly digest: Digest }[] = [{ path: '', digest: root }]
  const turns = new Turns(signal)
  for (const { path, digest } of waiting) {
    const directory = directories.get(formatDigest(digest))
    if (directory !== undefined) for (const child of addDirectory(plan, { path, directory }, rules)) waiting.push(child)
    await turns.next()
  }
  return { ...plan, missing }
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
  if (target === '' || target.includes('\0')) throw invalid(`the symlink ${named} has no target`)
  if (target.startsWith('/') && absoluteSymlinks === 'disallowed') throw invalid(`the symlink ${named} is absolute`)
}
