import type { Timestamp } from './timestamp.ts'

/** Metadata of a file, symlink or directory. */
export interface NodeProperties {
  /** By name, for properties that have no field. */
  readonly named: readonly { readonly name: string; readonly value: string }[]
  readonly mtime: Timestamp | undefined
  /** Permission bits, as chmod takes them. */
  readonly unixMode: number | undefined
}
