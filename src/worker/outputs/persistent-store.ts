import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import { backoff } from '../links/backoff.ts'
import type { BlobTarget, OutputBlob } from './blob-target.ts'

export interface PersistentStore {
  readonly target: BlobTarget
  readonly clock: Pick<Clock, 'after' | 'monotonic'>
}

/** Longer than a server takes to come back; a store that does not come back at all must not keep the slot for ever. */
const LONGEST_MS = 10 * 60_000

/**
 * Stores what an attempt made, again and again while the store is out of reach: to run the command once more would cost
 * more than to wait. The signal ends it when the lease is lost.
 */
export async function storeAtLast(
  blobs: readonly OutputBlob[],
  { target, clock }: PersistentStore,
  signal: AbortSignal,
): Promise<void> {
  const end = clock.monotonic() + LONGEST_MS
  const tries = backoff(clock, () => 0.5)
  for (;;) {
    try {
      return await target.store(blobs, signal)
    } catch (error) {
      if (signal.aborted || !isPassing(error) || clock.monotonic() >= end) throw error
      await tries.pause(signal)
      signal.throwIfAborted()
    }
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof FaultError && (error.fault.kind === 'unavailable' || error.fault.kind === 'late')
