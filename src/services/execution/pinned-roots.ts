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
 * Pins what the engine holds. It does not say in which space a blob is, so it is pinned in all that there are: a pin
 * for a blob that is not there costs next to nothing.
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
      release(task, what) // only now, so that what is held again is held throughout
      held.set(`${what}/${task}`, digests)
    },
    release,
    makeDurable: () => pins.makeDurable(),
  }
}
