import type { Digest } from '../base/digest.ts'

/**
 * What an action is asked for by: its digest, or as much of it as is known. Bazel's HTTP cache does not know the size. A
 * result that was put by size is found by that size or without; one that was put without, by any.
 */
export interface ActionName extends Omit<Digest, 'size'> {
  readonly size?: number
}

export const mayBeNamed = (put: ActionName['size'], asked: ActionName['size']): boolean =>
  put === undefined || asked === undefined || put === asked

/**
 * Results of actions, under the instance and the name of the action. To this port a result is bytes: what they mean,
 * and whether the blobs that they name are still there, is for others to say. Absence is an answer, not an error.
 */
export interface ActionCache {
  /** Answering touches it. */
  get(instance: string, action: ActionName): Promise<Uint8Array | undefined>
  /** The caller has checked the result (result-check.ts). It takes the place of what was there; resolves when it is held as durably as the store promises. */
  put(instance: string, action: ActionName, result: Uint8Array): Promise<void>
}
