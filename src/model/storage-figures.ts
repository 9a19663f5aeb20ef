/** What a store of blobs says of itself to whoever looks after it. */
export interface StorageFigures {
  readonly blobs: number
  /** Of the blobs as they are kept. */
  readonly liveBytes: number
  /** Of all files: more than `liveBytes` by what has gone and was not given back yet. */
  readonly diskBytes: number
  readonly limitBytes: number
  readonly packs: number
  /** Blobs that must not go. */
  readonly pinnedBlobs: number
  /** Since the store was opened, as the next one. */
  readonly evictedBlobs: number
  readonly freedBytes: number
  readonly openSeconds: number
  /** How long ago the blob was touched that was not touched for the longest; undefined when there is none. */
  readonly oldestTouchSeconds: number | undefined
  readonly isReclaiming: boolean
}

/**
 * How much is to go. `size`: what was not touched for the longest, until the files take no more than that. `age`: all
 * that was not touched for so long. `waste`: no blob, only space that none uses. Pinned blobs never go.
 */
export type ReclaimGoal =
  | { readonly kind: 'size'; readonly toBytes: number }
  | { readonly kind: 'age'; readonly olderThanSeconds: number }
  | { readonly kind: 'waste' }

export interface ReclaimProgress {
  /** What the files take now. */
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
