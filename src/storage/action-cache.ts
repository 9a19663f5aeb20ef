import type { Digest } from '../base/digest.ts'

/**
 * Results of actions, under the instance and the digest of the action. To this port a result is bytes: what they mean,
 * and whether the blobs that they name are still there, is for others to say. Absence is an answer, not an error.
 */
export interface ActionCache {
  /** Answering touches it. */
  get(instance: string, action: Digest): Promise<Uint8Array | undefined>
  /** Takes the place of what was there; resolves when it is held as durably as the store promises. */
  put(instance: string, action: Digest, result: Uint8Array): Promise<void>
}
