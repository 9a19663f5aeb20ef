import { expect, test } from 'vitest'
import { missingOf, putOne } from './blobs.fixture.ts'
import { blobStoreContract } from './contract.ts'
import { memoryStore } from './memory-store.ts'

blobStoreContract('memory', () => memoryStore())

test('a full memory lets go of what was touched least recently', async () => {
  const store = memoryStore({ maxBytes: 3000 })
  const a = await putOne(store, Buffer.alloc(1000, 1))
  const b = await putOne(store, Buffer.alloc(1000, 2))
  const c = await putOne(store, Buffer.alloc(1000, 3))
  await missingOf(store, [a])
  const d = await putOne(store, Buffer.alloc(1000, 4))
  expect(await missingOf(store, [a, b, c, d])).toEqual([false, true, false, false])
})
