import { createHmac } from 'node:crypto'
import { DIGEST_FUNCTIONS } from '../../base/digest.ts'
import { hashOf } from '../../base/hashing/hash-of.ts'
import { type ActionCache, type ActionName, mayBeNamed } from '../action-cache.ts'
import { hasSoundOutputs } from '../verification/result-check.ts'
import type { ValueStore } from './value-space.ts'

/** Returns the 32 bytes under which a result is stored. */
type NameOf = (instance: string, action: ActionName) => Uint8Array

/**
 * A double precedes the result: −1 minus the action's size, or −Infinity if the size is unknown. It is negative because
 * the result was checked before it was stored. Earlier versions checked less, and stored the size itself, or NaN if it
 * was unknown. Such a result is checked when it is read, and stored again.
 */
const SIZE_BYTES = 8

/** Stores results in the packs that contain the blobs, so that both share one size limit, one sync and one eviction. */
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
 * A unique name for each key: the instance, of any length, is last. The server hashes the key, so clients cannot choose
 * names that collide in the index. The prefix separates it from the names of earlier versions, which contained the
 * size. Results with such names are evicted over time.
 */
const clientName: NameOf = (instance, { fn, hash }) =>
  hashOf('sha256', Buffer.from(`result/${DIGEST_FUNCTIONS[fn].number}/${hash}/${instance}`))

/**
 * Names of results that only the server reads and writes. A client cannot read them: no API builds such a name, and the
 * name depends on the server's secret.
 */
export const ownNames =
  (secret: string, kind: 'task' | 'stage'): NameOf =>
  (instance, { fn, hash }) =>
    createHmac('sha256', secret).update(`${kind}/${DIGEST_FUNCTIONS[fn].number}/${hash}/${instance}`).digest()
