import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import type { BlobStore } from '../../src/storage/blob-store.ts'
import {
  bytesOf,
  digestOf,
  holds,
  listOf,
  manyOf,
  missingOf,
  put,
  putOne,
  upload,
} from '../../src/storage/blobs.fixture.ts'
import { randomFrom } from '../../src/testing/random-source.ts'
import { httpStore } from '../../src/worker/cas/http-store.ts'
import { httpCaller } from '../../src/worker/links/http-caller.ts'
import { type HttpGrid, startHttpGrid } from './http-grid.ts'

function storeOf(grid: HttpGrid, instance = ''): BlobStore {
  const caller = httpCaller({ url: grid.url, clock: systemClock })
  onTestFinished(caller.close)
  return httpStore({ caller, instance, clock: systemClock, random: Math.random })
}

const random = randomFrom(7)
const small = random.bytes(5000)
const large = random.bytes(3_000_000)

describe('the HTTP blob store', () => {
  test('finds written blobs and reports the others as missing, in the order of the request', async () => {
    const grid = await startHttpGrid()
    const store = storeOf(grid, 'team/linux box')
    const [one, two] = await put(store, small, large)
    const never = digestOf(Buffer.from('never written'))
    if (one === undefined || two === undefined) throw new Error('not written')
    expect(await missingOf(store, [never, one, never, two])).toEqual([true, false, true, false])
    expect(await manyOf(store, [two, never, one])).toEqual([large, undefined, small])
    expect(await missingOf(store, [{ ...one, size: one.size + 1 }])).toEqual([true])
    expect(await holds(grid.blobs, one)).toBe(true)
    expect(await store.find('sha256', one.hash)).toEqual(one)
    expect(await store.find('sha256', never.hash)).toBeUndefined()
  })

  test('has the empty blob without a request', async () => {
    const store = storeOf(await startHttpGrid())
    expect(await manyOf(store, [digestOf(Buffer.alloc(0))])).toEqual([Buffer.alloc(0)])
    expect(await bytesOf(store, digestOf(Buffer.alloc(0)))).toEqual(Buffer.alloc(0))
  })

  test('reads any range of a blob as a stream', async () => {
    const store = storeOf(await startHttpGrid())
    const digest = await putOne(store, large)
    expect(await bytesOf(store, digest)).toEqual(large)
    expect(await bytesOf(store, digest, { offset: 1_000_000 })).toEqual(large.subarray(1_000_000))
    expect(await bytesOf(store, digest, { offset: 10, limit: 20 })).toEqual(large.subarray(10, 30))
    expect(await bytesOf(store, digest, { offset: large.length })).toEqual(Buffer.alloc(0))
    expect(await store.read(digestOf(small), { offset: 0 })).toBeUndefined()
  })

  test('accepts a blob in chunks, and does not store it before the last one', async () => {
    const store = storeOf(await startHttpGrid())
    const digest = digestOf(large)
    await upload(store, { digest, bytes: large, form: 'identity', pieceBytes: 70_000 })
    expect(await bytesOf(store, digest)).toEqual(large)
    const other = digestOf(small)
    const writer = store.write(other, 'identity')
    await writer.write(small.subarray(0, 100))
    writer.abort()
    expect(await holds(store, other)).toBe(false)
  })

  test('reports bytes that do not match their digest as invalid', async () => {
    const store = storeOf(await startHttpGrid())
    const digest = digestOf(small)
    const wrong = Buffer.alloc(small.length)
    await expect(store.writeMany(listOf([digest]), [wrong])).rejects.toMatchObject({ fault: { kind: 'invalid' } })
    await expect(upload(store, { digest, bytes: wrong, form: 'identity', pieceBytes: 1000 })).rejects.toMatchObject({
      fault: { kind: 'invalid' },
    })
    expect(await holds(store, digest)).toBe(false)
  })

  test('retries until a restarted server responds', async () => {
    const first = await startHttpGrid()
    const store = storeOf(first)
    const digest = await putOne(store, small)
    first.kill()
    const asked = holds(store, digest)
    await startHttpGrid({ httpPort: first.httpPort, blobs: first.blobs })
    expect(await asked).toBe(true)
  })
})
