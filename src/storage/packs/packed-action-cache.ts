import { createHmac } from 'node:crypto'
import { DIGEST_FUNCTIONS } from '../../base/digest.ts'
import { hashOf } from '../../base/hashing/hash-of.ts'
import { type ActionCache, type ActionName, mayBeNamed } from '../action-cache.ts'
import { hasSoundOutputs } from '../verification/result-check.ts'
import type { ValueStore } from './value-space.ts'

/** 32 bytes for a key. */
type NameOf = (instance: string, action: ActionName) => Uint8Array

/**
 * A double stands before the result: −1 minus the action's size, −Infinity where the size was not known. The value is
 * negative because the result was checked before it was stored. Earlier versions checked less, and stored the size as
 * it is (not a number where it was not known): such a result is checked when it is read, and stored again.
 */
const SIZE_BYTES = 8

/** Keeps results in the packs that hold the blobs: one place to size, to sync and to evict from. */
export const packedActionCache = (values: ValueStore, nameOf: NameOf = clientName): ActionCache => ({
  async get(instance, action) {
    const name = nameOf(instance, action)
    const value = await values.get(name)
    if (value === undefined) return undefined
    const head = new DataView(value.buffer, value.byteOffset, SIZE_BYTES).getFloat64(0, true)
    const result = value.subarray(SIZE_BYTES)
    if (head < 0) return mayBeNamed(sizeIn(head), action.size) ? result : undefined
    const size = Number.isNaN(head) ? undefined : head
    if (!mayBeNamed(size, action.size) || !(await hasSoundOutputs(result, action.fn))) return undefined
    await values.put(name, markedValue(size, result))
    return result
  },
  put: (instance, action, result) => values.put(nameOf(instance, action), markedValue(action.size, result)),
})

const sizeIn = (head: number): ActionName['size'] => (Number.isFinite(head) ? -1 - head : undefined)

function markedValue(size: ActionName['size'], result: Uint8Array): Uint8Array {
  const value = Buffer.allocUnsafe(SIZE_BYTES + result.length)
  value.writeDoubleLE(size === undefined ? Number.NEGATIVE_INFINITY : -1 - size)
  value.set(result, SIZE_BYTES)
  return value
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
