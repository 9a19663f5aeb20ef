import type { KeyRecord, KeyStore } from './key-store.ts'

/** Holds keys in memory, for tests and for a server without a data folder. */
export function memoryKeyStore(): KeyStore {
  const records = new Map<string, KeyRecord>()
  return {
    list: async () => [...records.values()].sort((one, other) => one.createdAt - other.createdAt),
    put: async (record) => void records.set(record.id, record),
    async touch(uses) {
      for (const [id, at] of uses) {
        const record = records.get(id)
        if (record !== undefined && at > (record.lastUsedAt ?? 0)) records.set(id, { ...record, lastUsedAt: at })
      }
    },
    async close() {},
  }
}
