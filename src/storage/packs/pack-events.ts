import type { ReclaimEvent } from './reclaim.ts'
import type { RecoveryReport } from './recovery.ts'

/** What happens behind the store's port, for logs and metrics. */
export interface PackEvents {
  recovered(report: RecoveryReport): void
  reclaimed(event: ReclaimEvent): void
  /** Blobs went bad on disk and are absent now. */
  lost(blobs: number): void
  scrubbed(bytes: number): void
  failed(error: unknown, doing: 'write' | 'sync' | 'journal' | 'reclaim' | 'scrub'): void
}

export const unheardEvents: PackEvents = {
  recovered() {},
  reclaimed() {},
  lost() {},
  scrubbed() {},
  failed() {},
}
