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
 * Results of actions, by instance and action key. This port stores results as bytes; decorators decode them and check
 * that their blobs exist. A missing result is undefined, not an error.
 */
export interface ActionCache {
  /** Answering touches it. */
  get(instance: string, action: ActionName): Promise<Uint8Array | undefined>
  /** The caller has checked the result (result-check.ts). It takes the place of what was there; resolves when it is held as durably as the store promises. */
  put(instance: string, action: ActionName, result: Uint8Array): Promise<void>
}
