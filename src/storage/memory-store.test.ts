import { expect, test } from 'vitest'
import { listOf, missingOf, putOne } from './blobs.fixture.ts'
import { blobStoreContract } from './contract.ts'
import { memoryStore } from './memory-store.ts'

blobStoreContract('memory', () => memoryStore())

test('a full memory store evicts the least recently used blob', async () => {
  const store = memoryStore({ maxBytes: 3000 })
  const a = await putOne(store, Buffer.alloc(1000, 1))
  const b = await putOne(store, Buffer.alloc(1000, 2))
  const c = await putOne(store, Buffer.alloc(1000, 3))
  await missingOf(store, [a])
  const d = await putOne(store, Buffer.alloc(1000, 4))
  expect(await missingOf(store, [a, b, c, d])).toEqual([false, true, false, false])
  expect(await Promise.all([a, b, c, d].map(({ fn, hash }) => store.find(fn, hash)))).toEqual([a, undefined, c, d])
})

test('find returns any one of several blobs with the same hash while one is present', async () => {
  const store = memoryStore({ maxBytes: 3 })
  const digest = (size: number) => ({ fn: 'sha256', hash: 'ab'.repeat(32), size }) as const
  const write = (size: number) => store.writeMany(listOf([digest(size)]), [Buffer.alloc(size)])
  await write(1)
  await write(2)
  expect(store.find('sha256', digest(0).hash)).toEqual(digest(1))
  await missingOf(store, [digest(2)])
  await putOne(store, Buffer.from('x')) // evicts the blob of one byte
  expect(store.find('sha256', digest(0).hash)).toEqual(digest(2))
  await putOne(store, Buffer.from('all'))
  expect(store.find('sha256', digest(0).hash)).toBeUndefined()
})
