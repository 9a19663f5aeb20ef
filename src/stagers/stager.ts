import type { Digest } from '../base/digest.ts'

/** A file or directory of the blob store. Workers fetch it by its digest. */
export type StagedNode =
  | { readonly kind: 'file'; readonly digest: Digest; readonly executable: boolean }
  | { readonly kind: 'directory'; readonly digest: Digest }

/** The blob that a location contains the digest of: the file itself, or the directory that the path starts from. */
export interface NamedBlob {
  readonly kind: StagedNode['kind']
  readonly digest: Digest
}

/**
 * Copies data between the blob store and the locations of one URI scheme. The location of a directory, followed by `/`
 * and a percent-encoded relative path, is the location of an entry below that directory.
 */
export interface Stager {
  /**
   * Resolves when the data is in the blob store. Returns undefined when there is no data at the location, or when the
   * caller may not read it.
   */
  find(location: string): Promise<StagedNode | undefined>
  /**
   * Makes a node of the blob store available outside it and returns its location. `to` selects the destination: a scheme
   * (`cas:`) or a location of that scheme. Throws `invalid` for a destination that this stager cannot write to.
   */
  put(node: StagedNode, to: string): Promise<string>
  /** Reads the digest in a location without a lookup. Returns undefined for locations that contain no digest. */
  named(location: string): NamedBlob | undefined
}

/** Destination for data that stays in the blob store: `put` copies nothing and returns a `cas:` location. */
export const BLOB_STORE = 'cas:'
