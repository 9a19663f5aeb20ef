import type { Digest } from '../base/digest.ts'

/**
 * The key of an action: its digest, or the known part of it. Bazel's HTTP cache does not know the size. A result that
 * was put with a size is found by that size or without one; a result that was put without is found by any.
 */
export interface ActionName extends Omit<Digest, 'size'> {
  readonly size?: number
}

export const mayBeNamed = (put: ActionName['size'], asked: ActionName['size']): boolean =>
  put === undefined || asked === undefined || put === asked

/**
 * Results of actions, by instance and action key. This interface stores results as bytes; decorators decode them and
 * check that their blobs exist. A missing result is undefined, not an error.
 */
export interface ActionCache {
  /** Returns the stored result, and touches it. */
  get(instance: string, action: ActionName): Promise<Uint8Array | undefined>
  /**
   * Stores a result, and replaces an earlier one. The caller has checked the result (result-check.ts). Resolves when
   * the result has the durability of the store.
   */
  put(instance: string, action: ActionName, result: Uint8Array): Promise<void>
}
