/** Figures of a blob store, for operators. */
export interface StorageFigures {
  readonly blobs: number
  /** The size of the blobs as stored. */
  readonly liveBytes: number
  /** The size of all files: `liveBytes` plus space of deleted blobs that is not reclaimed yet. */
  readonly diskBytes: number
  readonly limitBytes: number
  readonly packs: number
  /** Blobs that must not go. */
  readonly pinnedBlobs: number
  /** Since the store was opened, as the next one. */
  readonly evictedBlobs: number
  readonly freedBytes: number
  readonly openSeconds: number
  /** The age of the blob that was not touched for the longest time; undefined when there is none. */
  readonly oldestTouchSeconds: number | undefined
  readonly isReclaiming: boolean
}

/**
 * The space to free. `size`: evict the least recently touched blobs until the files have this size. `age`: evict all
 * blobs that were not touched for this long. `waste`: evict nothing, only reclaim unused space. Pinned blobs are never
 * evicted.
 */
export type ReclaimGoal =
  | { readonly kind: 'size'; readonly toBytes: number }
  | { readonly kind: 'age'; readonly olderThanSeconds: number }
  | { readonly kind: 'waste' }

export interface ReclaimProgress {
  /** The present size of the files. */
  readonly diskBytes: number
  /** Since it began, as the next two; for a dry run what would be. */
  readonly freedBytes: number
  readonly copiedBytes: number
  readonly evictedBlobs: number
  /** Once it is done: what could not go, because it is pinned or because its file is being written to. */
  readonly pinnedBytes: number
  readonly openFileBytes: number
  readonly isDone: boolean
}

export interface ReclaimRequest {
  readonly goal: ReclaimGoal
  /** Only find out what would go. */
  readonly isDryRun: boolean
}
