import type { Digest } from '../base/digest.ts'
import type { NodeProperties } from './node-properties.ts'

/** One level of a tree of inputs or outputs. A name comes once among files, directories and symlinks together. */
export interface Directory {
  readonly files: readonly FileNode[]
  readonly directories: readonly DirectoryNode[]
  readonly symlinks: readonly SymlinkNode[]
  readonly properties: NodeProperties | undefined
}

export interface FileNode {
  readonly name: string
  readonly digest: Digest
  readonly executable: boolean
  readonly properties: NodeProperties | undefined
}

export interface DirectoryNode {
  readonly name: string
  /** Of the child's Directory message. */
  readonly digest: Digest
}

export interface SymlinkNode {
  readonly name: string
  readonly target: string
  readonly properties: NodeProperties | undefined
}

/** A directory with everything below it in one blob. Which child is meant is told by the digest of its message. */
export interface Tree {
  readonly root: Directory
  readonly children: readonly Directory[]
}

/** In words, why no file or directory can have this name; undefined when one can. A room is filled by these names. */
export function nodeNameProblem(name: string): string | undefined {
  if (name === '') return 'is empty'
  if (name === '.' || name === '..') return `is "${name}"`
  if (name.includes('/')) return 'has a slash in it'
  return name.includes('\0') ? 'has a NUL in it' : undefined
}
