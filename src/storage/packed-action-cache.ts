import { DIGEST_FUNCTIONS, type Digest } from '../base/digest.ts'
import { hashOf } from '../base/hashing/hash-of.ts'
import type { ActionCache } from './action-cache.ts'
import type { ValueStore } from './packs/value-space.ts'

/** Keeps results in the packs that hold the blobs: one place to size, to sync and to evict from. */
export const packedActionCache = (values: ValueStore): ActionCache => ({
  get: (instance, action) => values.get(nameOf(instance, action)),
  put: (instance, action, result) => values.put(nameOf(instance, action), result),
})

/** One name for all of a key, and no two keys with one name: the instance, of any length, comes last. */
const nameOf = (instance: string, { fn, hash, size }: Digest): Uint8Array =>
  hashOf('sha256', Buffer.from(`${DIGEST_FUNCTIONS[fn].number}/${hash}/${size}/${instance}`))
