/**
 * Where things are, as the command sees them. The paths may be of a container, or words that are only replaced by real
 * paths where the command runs.
 */
export interface ToolRoom {
  /** The working directory, where outputs are made. */
  readonly outdir: string
  readonly tmpdir: string
  /** Each input gets a directory of its own below this one. */
  readonly inputsDir: string
}

/** Something that has to be in the room before the command starts. Parents come before what is in them. */
export type Staged =
  | { readonly kind: 'file'; readonly path: string; readonly location: string; readonly writable: boolean }
  | { readonly kind: 'text'; readonly path: string; readonly contents: string; readonly writable: boolean }
  | { readonly kind: 'tree'; readonly path: string; readonly location: string; readonly writable: boolean }
  /** An empty directory; what belongs into it follows. */
  | { readonly kind: 'directory'; readonly path: string; readonly writable: boolean }
