import type { DigestFunction } from '../../base/digest.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { ActionCache } from '../../storage/action-cache.ts'
import type { BlobStore } from '../../storage/blob-store.ts'

/** The stores of one instance name. Several names may share a store; results of actions are never shared. */
export interface Instance {
  /** Does not verify what is written: for reads, and for blobs that were verified before. */
  readonly blobs: BlobStore
  /** The same store with verification of every write. */
  readonly uploads: BlobStore
  readonly actions: ActionCache
  /** False where clients may not upload results: `actions` refuses them, and the capabilities report it. */
  readonly mayUpdateActions?: boolean
  /** The function of a bare hash when its length fits several functions. */
  readonly unnamedFunction: DigestFunction
}

/** Throws a fault for a name that is not served here. */
export type Instances = (name: InstanceName) => Instance
