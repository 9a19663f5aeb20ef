import type { Clock } from '../../base/clock.ts'
import type { Engine } from '../../engine/engine.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { NetworkGrants } from '../../model/properties/network-grants.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import type { Instances } from '../instances/instances.ts'
import type { RecentTrees } from './recent-trees.ts'

export interface ExecutionDoorOptions {
  readonly engine: Engine
  readonly instances: Instances
  readonly clock: Clock
  readonly limits?: Partial<ExecutionLimits>
  /** The names under which the output of an operation can be followed, where it can. */
  readonly logStreams?: OperationLogs
  /** No action may use a network when left out. */
  readonly grants?: NetworkGrants
}

export type OperationLogs = (operation: { readonly instance: InstanceName; readonly id: string }) => {
  readonly stdout: string
  readonly stderr: string
}

export interface ExecutionLimits {
  /** Applies to an action that sets no timeout. */
  readonly defaultTimeoutMs: number
  /** An action that wants more is refused. */
  readonly maxTimeoutMs: number
  /** A stream on which nothing happens says again how it stands: proxies cut those that are silent. */
  readonly keepAliveMs: number
  /** What the tree of inputs may consist of, each counted once. */
  readonly maxDirectories: number
  readonly maxFiles: number
}

const MINUTE_MS = 60_000

export const DEFAULT_EXECUTION_LIMITS: ExecutionLimits = {
  defaultTimeoutMs: 60 * MINUTE_MS,
  maxTimeoutMs: 24 * 60 * MINUTE_MS,
  keepAliveMs: MINUTE_MS / 2,
  maxDirectories: 200_000,
  maxFiles: 1_000_000,
}

/** What the parts of this door work with. */
export interface ExecutionTools {
  readonly engine: Engine
  readonly instances: Instances
  readonly clock: Clock
  readonly limits: ExecutionLimits
  readonly logStreams: OperationLogs | undefined
  readonly grants: NetworkGrants
  readonly recentTrees: (blobs: BlobStore) => RecentTrees
}
