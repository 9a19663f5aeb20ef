import type { Clock } from '../../base/clock.ts'
import type { Engine } from '../../engine/engine.ts'
import type { NetworkGrants } from '../../model/properties/network-grants.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import type { Instances } from '../instances/instances.ts'
import type { RecentTrees } from './missing-inputs.ts'

export interface ExecutionDoorOptions {
  readonly engine: Engine
  readonly instances: Instances
  readonly clock: Clock
  readonly limits?: Partial<ExecutionLimits>
  /** The names of an operation's logs, if its output can be followed. */
  readonly logStreams?: OperationLogs
  /** When left out, no action may use a network. */
  readonly grants?: NetworkGrants
}

/** Maps the full name of an operation to the names of its logs. */
export type OperationLogs = (operation: string) => {
  readonly stdout: string
  readonly stderr: string
}

export interface ExecutionLimits {
  /** Applies to an action that sets no timeout. */
  readonly defaultTimeoutMs: number
  /** An action with a longer timeout is refused. */
  readonly maxTimeoutMs: number
  /** A stream without changes repeats its last message after this time: proxies cut silent streams. */
  readonly keepAliveMs: number
  /** Limits of an input tree; each directory is counted once. */
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

/** The parts that calls of the execution door use. */
export interface ExecutionTools {
  readonly engine: Engine
  readonly instances: Instances
  readonly clock: Clock
  readonly limits: ExecutionLimits
  readonly logStreams: OperationLogs | undefined
  readonly grants: NetworkGrants
  readonly recentTrees: (blobs: BlobStore) => RecentTrees
}
