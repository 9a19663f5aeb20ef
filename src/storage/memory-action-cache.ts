import type { Digest } from '../base/digest.ts'
import type { ActionCache } from './action-cache.ts'

/** Keeps results in memory: for tests, and for grids that may forget. The least recently touched go first. */
export function memoryActionCache({ maxResults = Number.POSITIVE_INFINITY } = {}): ActionCache {
  const results = new Map<string, Uint8Array>() // in the order of touches
  const touch = (key: string, result: Uint8Array): void => {
    results.delete(key)
    results.set(key, result)
  }
  return {
    async get(instance, action) {
      const key = keyOf(instance, action)
      const result = results.get(key)
      if (result !== undefined) touch(key, result)
      return result
    },
    async put(instance, action, result) {
      touch(keyOf(instance, action), new Uint8Array(result))
      for (const oldest of results.keys()) {
        if (results.size <= maxResults) break
        results.delete(oldest)
      }
    },
  }
}

const keyOf = (instance: string, { fn, hash, size }: Digest): string => `${fn}/${hash}/${size}/${instance}`
