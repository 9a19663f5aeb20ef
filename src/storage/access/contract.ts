import { describe, expect, test } from 'vitest'
import type { KeyRecord, KeyStore } from './key-store.ts'

const keyRecord = (id: string, more: Partial<KeyRecord> = {}): KeyRecord => ({
  id,
  name: `key ${id}`,
  secretHash: 'ab'.repeat(32),
  grants: [{ role: 'client', instance: 'main' }],
  createdAt: 1000,
  expiresAt: undefined,
  revokedAt: undefined,
  lastUsedAt: undefined,
  ...more,
})

/** The behaviour of every store of API keys. */
export function keyStoreContract(name: string, makeStore: () => KeyStore | Promise<KeyStore>): void {
  describe(`${name}: key store`, () => {
    test('is empty at first', async () => {
      const store = await makeStore()
      expect(await store.list()).toEqual([])
    })

    test('lists records with all their fields, the oldest first', async () => {
      const store = await makeStore()
      const grants = [
        { role: 'worker', instance: '*' },
        { role: 'reader', instance: 'a/b' },
      ] as const
      const old = keyRecord('old', {
        createdAt: 1,
        expiresAt: 2,
        revokedAt: 3,
        lastUsedAt: 4,
        grants,
        name: "O'Hara 😀",
      })
      const young = keyRecord('young', { createdAt: 5 })
      await store.put(young)
      await store.put(old)
      expect(await store.list()).toEqual([old, young])
    })

    test('replaces the record with the same id', async () => {
      const store = await makeStore()
      await store.put(keyRecord('a'))
      await store.put(keyRecord('a', { revokedAt: 9 }))
      expect(await store.list()).toEqual([keyRecord('a', { revokedAt: 9 })])
    })

    test('records the last use, and ignores an earlier one and an unknown id', async () => {
      const store = await makeStore()
      await store.put(keyRecord('a'))
      await store.put(keyRecord('b', { createdAt: 2000 }))
      await store.touch(new Map(Object.entries({ a: 50, unknown: 60 })))
      await store.touch(new Map(Object.entries({ a: 40 })))
      expect((await store.list()).map(({ id, lastUsedAt }) => [id, lastUsedAt])).toEqual([
        ['a', 50],
        ['b', undefined],
      ])
    })
  })
}
