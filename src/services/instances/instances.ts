import type { DigestFunction } from '../../base/digest.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { ActionCache } from '../../storage/action-cache.ts'
import type { BlobStore } from '../../storage/blob-store.ts'

/** The stores of one instance name. Several names may share a store; results of actions are never shared. */
export interface Instance {
  /** Believes what it is given: for reading, and for blobs that were checked already. */
  readonly blobs: BlobStore
  /** The same store behind a check of everything that is written. */
  readonly uploads: BlobStore
  readonly actions: ActionCache
  /** False where callers may not put results: `actions` refuses them, and this is how clients hear of it beforehand. */
  readonly mayUpdateActions?: boolean
  /** The function of a bare hash when its length fits several functions. */
  readonly unnamedFunction: DigestFunction
}

/** Throws a fault for a name that is not served here. */
export type Instances = (name: InstanceName) => Instance
