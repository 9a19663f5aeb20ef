import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import { type Backoff, backoff } from '../links/backoff.ts'
import type { BlobTarget, OutputBlob } from './blob-target.ts'

export interface PersistentStore {
  readonly target: BlobTarget
  readonly clock: Pick<Clock, 'after' | 'monotonic'>
}

/** Longer than a restart of the server. A store that stays unavailable must not occupy the slot forever. */
const LONGEST_MS = 10 * 60_000

/**
 * Stores the outputs of an attempt, and retries while the store cannot be reached: running the command again would cost
 * more than waiting. Aborting the signal ends the retries when the lease is lost.
 */
export async function storeAtLast(
  blobs: readonly OutputBlob[],
  { target, clock }: PersistentStore,
  signal: AbortSignal,
): Promise<void> {
  const end = clock.monotonic() + LONGEST_MS
  let pauses: Backoff | undefined
  for (;;) {
    try {
      return await target.store(blobs, signal)
    } catch (error) {
      if (signal.aborted || !isTemporary(error) || clock.monotonic() >= end) throw error
      pauses ??= backoff(clock, () => 0.5)
      await pauses.pause(signal)
      signal.throwIfAborted()
    }
  }
}

const isTemporary = (error: unknown): boolean =>
  error instanceof FaultError && (error.fault.kind === 'unavailable' || error.fault.kind === 'late')
