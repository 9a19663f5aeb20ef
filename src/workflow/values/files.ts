/** What is at a location. */
export type Stat =
  | { readonly class: 'File'; readonly size: number; readonly checksum?: string }
  | { readonly class: 'Directory' }

export interface Entry {
  readonly class: 'File' | 'Directory'
  readonly basename: string
  readonly location: string
}

/** How files are looked at, by location. Whoever runs the workflow knows where they are. */
export interface Files {
  /** Undefined when nothing is there, or nothing that may be seen. */
  stat(location: string): Promise<Stat | undefined>
  /** At most `limit` bytes from the start. */
  read(location: string, limit: number): Promise<Uint8Array>
  /** The names in a directory, in the order of their code points. */
  list(location: string): Promise<readonly Entry[]>
}
