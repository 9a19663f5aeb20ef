import type { ReclaimEvent } from './reclaim.ts'
import type { RecoveryReport, TruncationReport } from './recovery.ts'

/** Events of the pack store, for logs and metrics. */
export interface PackEvents {
  recovered(report: RecoveryReport): void
  /** A file of the store is missing, or shorter than the index expects: its last blobs are absent now. */
  truncated(report: TruncationReport): void
  reclaimed(event: ReclaimEvent): void
  /** Blobs were found corrupt on disk and are absent now. */
  lost(blobs: number): void
  scrubbed(bytes: number): void
  failed(error: unknown, doing: 'write' | 'sync' | 'journal' | 'reclaim' | 'scrub'): void
}

export const unheardEvents: PackEvents = {
  recovered() {},
  truncated() {},
  reclaimed() {},
  lost() {},
  scrubbed() {},
  failed() {},
}
