import { createHmac } from 'node:crypto'
import { DIGEST_FUNCTIONS } from '../base/digest.ts'
import { hashOf } from '../base/hashing/hash-of.ts'
import { type ActionCache, type ActionName, mayBeNamed } from './action-cache.ts'
import type { ValueStore } from './packs/value-space.ts'

/** 32 bytes for a key. */
type NameOf = (instance: string, action: ActionName) => Uint8Array

/** The action's size stands before the result, as a double; not a number where it was not known. */
const SIZE_BYTES = 8

/** Keeps results in the packs that hold the blobs: one place to size, to sync and to evict from. */
export const packedActionCache = (values: ValueStore, nameOf: NameOf = clientName): ActionCache => ({
  async get(instance, action) {
    const value = await values.get(nameOf(instance, action))
    if (value === undefined || !mayBeNamed(sizeIn(value), action.size)) return undefined
    return value.subarray(SIZE_BYTES)
  },
  put(instance, action, result) {
    const value = Buffer.allocUnsafe(SIZE_BYTES + result.length)
    value.writeDoubleLE(action.size ?? Number.NaN)
    value.set(result, SIZE_BYTES)
    return values.put(nameOf(instance, action), value)
  },
})

function sizeIn(value: Uint8Array): ActionName['size'] {
  const size = new DataView(value.buffer, value.byteOffset, SIZE_BYTES).getFloat64(0, true)
  return Number.isNaN(size) ? undefined : size
}

/**
 * One name for all of a key, and no two keys with one name: the instance, of any length, comes last. Hashed by us, so
 * nobody can choose names that meet in one place of the index. The first word keeps it apart from the names of earlier
 * versions, in which the size stood: those results age out.
 */
const clientName: NameOf = (instance, { fn, hash }) =>
  hashOf('sha256', Buffer.from(`result/${DIGEST_FUNCTIONS[fn].number}/${hash}/${instance}`))

/**
 * Names of results that only the server itself reads and writes. No call of a client names one: it would need both this
 * kind of name, which no door makes, and the server's secret.
 */
export const ownNames =
  (secret: string, kind: 'task' | 'stage'): NameOf =>
  (instance, { fn, hash }) =>
    createHmac('sha256', secret).update(`${kind}/${DIGEST_FUNCTIONS[fn].number}/${hash}/${instance}`).digest()
