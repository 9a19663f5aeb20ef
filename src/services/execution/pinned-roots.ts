import type { Digest } from '../../base/digest.ts'
import type { BlobRoots } from '../../engine/tasks/ports.ts'

/** The part of a pack store that keeps blobs from being evicted. */
export interface Pins {
  pin(digest: Digest, space?: number): void
  unpin(digest: Digest, space?: number): void
  /** Makes everything durable that was stored before the call. */
  makeDurable(): Promise<void>
}

/**
 * Pins the blobs of unfinished tasks. The engine does not know the space of a blob, so each blob is pinned in all
 * spaces: a pin for an absent blob costs almost nothing.
 */
export function pinnedRoots(pins: Pins, spaces: readonly number[] = [0]): BlobRoots {
  const held = new Map<string, readonly Digest[]>()
  const each = (digests: readonly Digest[], act: (digest: Digest, space: number) => void): void => {
    for (const digest of digests) for (const space of spaces) act(digest, space)
  }
  const release: BlobRoots['release'] = (task, what) => {
    const digests = held.get(`${what}/${task}`) ?? []
    held.delete(`${what}/${task}`)
    each(digests, (digest, space) => pins.unpin(digest, space))
  }
  return {
    hold(task, what, digests) {
      each(digests, (digest, space) => pins.pin(digest, space))
      release(task, what) // after pinning, so that a blob in both sets is never unpinned
      held.set(`${what}/${task}`, digests)
    },
    release,
    makeDurable: () => pins.makeDurable(),
  }
}
