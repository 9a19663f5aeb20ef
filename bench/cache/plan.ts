/** What is asked of a server, in words that fit between processes. */
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

/** How much lies in a server before it is measured. */
export interface Stock {
  /** Blobs of SMALL_BYTES; FindMissing, BatchRead and the action results draw on them. */
  readonly small: number
  /** Blobs of MEDIUM_BYTES, once as they are and once uploaded as zstd. */
  readonly medium: number
  readonly actions: number
  /** Of the large blobs. */
  readonly largeBytes: number
}

export const FULL: Stock = { small: 20_000, medium: 128, actions: 2000, largeBytes: 256 * MiB }
export const SMOKE: Stock = { small: 2000, medium: 6, actions: 100, largeBytes: 6 * MiB }

export const SMALL_BYTES = 4 * KiB
export const MEDIUM_BYTES = MiB
export const BATCH_BLOBS = 100
export const OUTPUTS_PER_ACTION = 5

/** Of a server that takes uploads as they are, or has them compressed. */
export const isZstd = (kind: PlanKind): boolean => kind === 'read-zstd' || kind === 'write-zstd'

/** Needs blobs that the server has never seen, for every call. */
export const isWriting = (kind: PlanKind): boolean => /^(batch-update|update-action|write(-zstd)?)$/.test(kind)
