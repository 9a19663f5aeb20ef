/** The calls to a server, as data that can be sent between processes. */
import { KiB, MiB } from './content.ts'

export type Plan =
  | { readonly kind: 'find-missing'; readonly digests: number }
  | { readonly kind: 'batch-update' | 'batch-read' | 'action-result' | 'update-action' }
  | ReadPlan
  | WritePlan

export interface ReadPlan {
  readonly kind: 'read' | 'read-zstd'
  readonly size: number
}

export interface WritePlan {
  readonly kind: 'write' | 'write-zstd'
  readonly size: number
}

export type PlanKind = Plan['kind']

/** The contents of a server before it is measured. */
export interface Stock {
  /** Blobs of SMALL_BYTES, for FindMissing, BatchRead and the action results. */
  readonly small: number
  /** Blobs of MEDIUM_BYTES, uploaded uncompressed and as zstd. */
  readonly medium: number
  readonly actions: number
  /** Bytes of each large blob. */
  readonly largeBytes: number
}

export const FULL: Stock = { small: 20_000, medium: 128, actions: 2000, largeBytes: 256 * MiB }
export const SMOKE: Stock = { small: 2000, medium: 6, actions: 100, largeBytes: 6 * MiB }

export const SMALL_BYTES = 4 * KiB
export const MEDIUM_BYTES = MiB
export const BATCH_BLOBS = 100
export const OUTPUTS_PER_ACTION = 5

/** Whether the calls transfer zstd. */
export const isZstd = (kind: PlanKind): boolean => kind === 'read-zstd' || kind === 'write-zstd'

/** Whether every call needs blobs that the server does not have. */
export const isWriting = (kind: PlanKind): boolean => /^(batch-update|update-action|write(-zstd)?)$/.test(kind)
