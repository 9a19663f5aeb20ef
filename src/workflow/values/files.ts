/** The entry at a location. */
export type Stat =
  | { readonly class: 'File'; readonly size: number; readonly checksum?: string }
  | { readonly class: 'Directory' }

export interface Entry {
  readonly class: 'File' | 'Directory'
  readonly basename: string
  readonly location: string
}

/** Reads files by location. The caller that runs the workflow implements it. */
export interface Files {
  /** Undefined when nothing exists there, or access is denied. */
  stat(location: string): Promise<Stat | undefined>
  /** Returns at most `limit` bytes from the start. */
  read(location: string, limit: number): Promise<Uint8Array>
  /** The names in a directory, sorted by code point. */
  list(location: string): Promise<readonly Entry[]>
}
