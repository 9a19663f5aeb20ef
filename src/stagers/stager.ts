import type { Digest } from '../base/digest.ts'

/** What lies at a location, as a worker can fetch it. */
export type StagedNode =
  | { readonly kind: 'file'; readonly digest: Digest; readonly executable: boolean }
  | { readonly kind: 'directory'; readonly digest: Digest }

/**
 * Makes data of one URI scheme available to tasks: what it answers with is in the store when it does. Undefined when
 * nothing is at the location, or nothing that may be seen.
 */
export interface Stager {
  find(location: string): Promise<StagedNode | undefined>
}
