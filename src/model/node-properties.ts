import type { Timestamp } from './timestamp.ts'

/** What a file, a link or a directory has besides its content. */
export interface NodeProperties {
  /** By name, for those that have no field of their own. */
  readonly named: readonly { readonly name: string; readonly value: string }[]
  readonly mtime: Timestamp | undefined
  /** Permission bits, as chmod takes them. */
  readonly unixMode: number | undefined
}
