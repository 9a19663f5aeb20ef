/**
 * Paths as the command sees them. They may be paths of a container, or placeholders that are replaced where the command
 * runs.
 */
export interface ToolRoom {
  /** The working directory, which receives the outputs. */
  readonly outdir: string
  readonly tmpdir: string
  /** Each input gets its own directory below this one. */
  readonly inputsDir: string
}

/** A file or directory that must be in the room before the command starts. Parents come before their entries. */
export type Staged =
  | { readonly kind: 'file'; readonly path: string; readonly location: string; readonly writable: boolean }
  | { readonly kind: 'text'; readonly path: string; readonly contents: string; readonly writable: boolean }
  | { readonly kind: 'tree'; readonly path: string; readonly location: string; readonly writable: boolean }
  /** An empty directory; its entries follow. */
  | { readonly kind: 'directory'; readonly path: string; readonly writable: boolean }
