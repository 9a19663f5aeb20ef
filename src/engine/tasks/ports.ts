import type { Digest } from '../../base/digest.ts'
import type { InstanceName } from '../../model/instance-name.ts'

/** Results of identical tasks, shared by all callers. The services define the encoding of the bytes. */
export interface ResultCache {
  get(instance: InstanceName, actionKey: string): Promise<Uint8Array | undefined>
  put(instance: InstanceName, actionKey: string, result: Uint8Array): Promise<void>
}

/** Which blobs must not go: what open tasks read, and what finished ones made, for as long as they are kept. */
export interface BlobRoots {
  hold(task: string, what: 'inputs' | 'outputs', digests: readonly Digest[]): void
  /** Nothing happens when none were held. */
  release(task: string, what: 'inputs' | 'outputs'): void
  /**
   * Resolves when the blobs are on the disk. Asked in the word `power` only: of what a task names before it is accepted,
   * and of what its result names before that is told.
   */
  makeDurable?(digests: readonly Digest[]): Promise<void>
}
