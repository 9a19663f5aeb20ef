import { describe, expect, test } from 'vitest'
import { DIGEST_FUNCTIONS, type DigestFunction } from '../base/digest.ts'
import { emptyDigest } from '../base/empty-blob.ts'
import { alwaysHoldingEmptyBlob } from './always-holding-empty-blob.ts'
import type { BlobStore } from './blob-store.ts'
import { bytesOf, digestOf, manyOf, missingOf, putOne } from './blobs.fixture.ts'
import { memoryStore } from './memory-store.ts'

/** A store with asynchronous replies. */
const elsewhere = (inner: BlobStore): BlobStore => ({
  ...inner,
  missing: async (list, absent) => inner.missing(list, absent),
  find: async (fn, hash) => inner.find(fn, hash),
  readMany: async (list, into) => inner.readMany(list, into),
})

describe.each([
  ['here', (inner: BlobStore) => inner],
  ['elsewhere', elsewhere],
])('alwaysHoldingEmptyBlob before a store that is %s', (_, place) => {
  test.each(Object.keys(DIGEST_FUNCTIONS) as DigestFunction[])('the empty blob of %s is always present', async (fn) => {
    const store = alwaysHoldingEmptyBlob(place(memoryStore()))
    const empty = emptyDigest(fn)
    const impossible = { ...empty, hash: empty.hash.replace(/^./, '0') }
    expect(await missingOf(store, [impossible, empty, { ...empty, size: 1 }])).toEqual([true, false, true])
    expect(await manyOf(store, [empty, impossible])).toEqual([Buffer.alloc(0), undefined])
    expect(await bytesOf(store, empty)).toEqual(Buffer.alloc(0))
    expect(await bytesOf(store, impossible)).toBeUndefined()
    expect(await store.find(fn, empty.hash)).toEqual(empty)
    expect(await store.find(fn, impossible.hash)).toBeUndefined()
  })

  test('other blobs are unchanged', async () => {
    const store = alwaysHoldingEmptyBlob(place(memoryStore()))
    const digest = await putOne(store, Buffer.from('not empty'))
    const never = digestOf(Buffer.from('never'))
    expect(await missingOf(store, [digest, never])).toEqual([false, true])
    expect(await manyOf(store, [never, digest])).toEqual([undefined, Buffer.from('not empty')])
    expect(await store.find('sha256', digest.hash)).toEqual(digest)
  })
})
