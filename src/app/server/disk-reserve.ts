import { statfsSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { Log } from '../../base/log.ts'
import type { PackStore } from '../../storage/packs/pack-store.ts'

export interface DiskReserveOptions {
  readonly packs: Pick<PackStore, 'figures' | 'admin'>
  /** The directory of blobs and journal. */
  readonly folder: string
  /** The disk space that blobs leave free; 0 turns it off. */
  readonly minFreeBytes: number
  readonly clock: Clock
  readonly log: Log
}

export interface DiskReserve {
  /** Evicts blobs until the reserve is free, or none is left to evict. Never rejects. */
  restore(): Promise<void>
  close(): void
}

const CHECK_MS = 5000
/** On a small file system the reserve is at most this part of it. */
const MOST_PART = 1 / 8

/** The journal and the logs are on the same disk as the blobs. So blobs are evicted before the disk is full. */
export function diskReserve(options: DiskReserveOptions): DiskReserve {
  const { folder, minFreeBytes, clock } = options
  let isClosed = false
  let cancel = (): void => {}
  let running: Promise<void> | undefined
  const missing = (): number => {
    const { bavail, blocks, bsize } = statfsSync(folder)
    return Math.min(minFreeBytes, blocks * bsize * MOST_PART) - bavail * bsize
  }
  const restore = (): Promise<void> => {
    const bytes = missing()
    if (bytes <= 0 || isClosed) return Promise.resolve()
    running ??= evict(bytes, options).finally(() => {
      running = undefined
    })
    return running
  }
  const check = (): void => {
    cancel = clock.after(CHECK_MS, () => void restore().finally(() => !isClosed && check()))
  }
  if (minFreeBytes > 0) check()
  return {
    restore: () => (minFreeBytes > 0 ? restore() : Promise.resolve()),
    close() {
      isClosed = true
      cancel()
    },
  }
}

const NEVER = new AbortController().signal

async function evict(bytes: number, { packs, log }: DiskReserveOptions): Promise<void> {
  const { diskBytes } = packs.figures()
  if (diskBytes === 0) return
  const listener = { signal: NEVER, progress() {} }
  const shrink = (toBytes: number) =>
    packs.admin.reclaim({ goal: { kind: 'size', toBytes }, isDryRun: false }, listener)
  try {
    // Compacting a pack needs space itself. Without space, whole packs are deleted.
    const freed = await shrink(Math.max(0, diskBytes - bytes)).catch(() => undefined)
    const { freedBytes, evictedBlobs } = freed !== undefined && freed.freedBytes > 0 ? freed : await shrink(0)
    if (freedBytes > 0) log.warn({ freedBytes, evictedBlobs }, 'evicted blobs to keep disk space free for the journal')
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    log.error({ err: error }, 'eviction of blobs failed while the disk is nearly full')
  }
}
