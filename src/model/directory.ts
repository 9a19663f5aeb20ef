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
  /** The digest of the child's Directory message. */
  readonly digest: Digest
}

export interface SymlinkNode {
  readonly name: string
  readonly target: string
  readonly properties: NodeProperties | undefined
}

/** A directory with all its descendants in one blob. A child is identified by the digest of its message. */
export interface Tree {
  readonly root: Directory
  readonly children: readonly Directory[]
}

/** The reason why a file or directory cannot have this name; undefined when it can. Rooms are filled by these names. */
export function nodeNameProblem(name: string): string | undefined {
  if (name === '') return 'is empty'
  if (name === '.' || name === '..') return `is "${name}"`
  if (name.includes('/')) return 'has a slash in it'
  return name.includes('\0') ? 'has a NUL in it' : undefined
}
