/** The operator's functions of the pack store: figures, and reclaiming on request. */
import type { Clock } from '../../base/clock.ts'
import { invalid } from '../../base/fault.ts'
import type { ReclaimProgress, ReclaimRequest, StorageFigures } from '../../model/storage-figures.ts'
import type { Reclaimer, ReclaimListener, ReclaimTools } from './reclaim.ts'
import { estimate } from './reclaim-estimate.ts'

const SLICE_RECORDS = 16_384
/** Finding the oldest touch scans all blobs, so its result is cached. */
const OLDEST_HOLDS_MS = 10_000

export interface PackFigures {
  readonly blobs: number
  readonly liveBytes: number
  readonly diskBytes: number
  readonly packs: number
  readonly roots: number
}

export interface PackAdmin {
  figures(): Promise<StorageFigures>
  /** One at a time; throws `exists` while another reclaim runs, and `cancelled` when the caller disconnects. */
  reclaim(request: ReclaimRequest, listener: ReclaimListener): Promise<ReclaimProgress>
}

export interface PackAdminTools extends ReclaimTools {
  readonly reclaimer: Reclaimer
  readonly clock: Clock
  readonly limitBytes: number
  seconds(): number
  figures(): PackFigures
}

export function packAdmin(tools: PackAdminTools): PackAdmin {
  const { reclaimer, clock, limitBytes, seconds } = tools
  let oldest: Promise<number | undefined> | undefined
  let foundAt = Number.NEGATIVE_INFINITY
  let isEstimating = false
  const oldestTouch = (): Promise<number | undefined> => {
    if (oldest === undefined || clock.monotonic() - foundAt >= OLDEST_HOLDS_MS) {
      foundAt = clock.monotonic()
      oldest = findOldestTouch(tools)
    }
    return oldest
  }
  return {
    async figures() {
      const touched = await oldestTouch()
      const { roots, ...held } = tools.figures()
      const { freedBytes, evictedBlobs } = reclaimer.totals
      return {
        ...held,
        limitBytes,
        pinnedBlobs: roots,
        evictedBlobs,
        freedBytes,
        openSeconds: seconds(),
        oldestTouchSeconds: touched === undefined ? undefined : Math.max(0, seconds() - touched),
        isReclaiming: reclaimer.isRunning,
      }
    },
    async reclaim({ goal, isDryRun }, listener) {
      if (!isDryRun) return await reclaimer.now(goal, listener)
      if (isEstimating) throw invalid('a dry run is under way already: try again when that is done', 'exists')
      isEstimating = true
      try {
        return await estimate(tools, goal, seconds())
      } finally {
        isEstimating = false
      }
    },
  }
}

async function findOldestTouch({ catalogue }: ReclaimTools): Promise<number | undefined> {
  let oldest: number | undefined
  await catalogue.eachRecord(SLICE_RECORDS, (record) => {
    const touch = catalogue.index.touch(record)
    if (oldest === undefined || touch < oldest) oldest = touch
  })
  return oldest
}
