import { type ActionCache, type ActionName, mayBeNamed } from './action-cache.ts'

interface Kept {
  readonly size: ActionName['size']
  readonly result: Uint8Array
}

/** Stores results in memory, for tests and for servers without persistence. Evicts the least recently touched first. */
export function memoryActionCache({ maxResults = Number.POSITIVE_INFINITY } = {}): ActionCache {
  const results = new Map<string, Kept>() // ordered by last touch
  const touch = (key: string, kept: Kept): void => {
    results.delete(key)
    results.set(key, kept)
  }
  return {
    async get(instance, action) {
      const key = keyOf(instance, action)
      const kept = results.get(key)
      if (kept === undefined || !mayBeNamed(kept.size, action.size)) return undefined
      touch(key, kept)
      return kept.result
    },
    async put(instance, action, result) {
      touch(keyOf(instance, action), { size: action.size, result: new Uint8Array(result) })
      for (const oldest of results.keys()) {
        if (results.size <= maxResults) break
        results.delete(oldest)
      }
    },
  }
}

const keyOf = (instance: string, { fn, hash }: ActionName): string => `${fn}/${hash}/${instance}`
