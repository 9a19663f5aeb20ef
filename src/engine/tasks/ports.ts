import type { Digest } from '../../base/digest.ts'
import type { InstanceName } from '../../model/instance-name.ts'

/** Results of identical tasks, shared by all callers. The services define the encoding of the bytes. */
export interface ResultCache {
  get(instance: InstanceName, actionKey: string): Promise<Uint8Array | undefined>
  put(instance: InstanceName, actionKey: string, result: Uint8Array): Promise<void>
}

/** Pins blobs: the inputs of open tasks, and the outputs of finished tasks until retention deletes the task. */
export interface BlobRoots {
  hold(task: string, what: 'inputs' | 'outputs', digests: readonly Digest[]): void
  /** Does nothing when the task has no pinned blobs. */
  release(task: string, what: 'inputs' | 'outputs'): void
  /**
   * Resolves when the blobs are synced to disk. Called for durability `power` only: for the inputs before the task is
   * accepted, and for the outputs before callers are notified of the result.
   */
  makeDurable?(digests: readonly Digest[]): Promise<void>
}
