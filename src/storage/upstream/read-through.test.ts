import { zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { FaultError } from '../../base/fault.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { randomFrom } from '../../testing/random-source.ts'
import type { BlobStore } from '../blob-store.ts'
import { bytesOf, digestOf, holds, manyOf, missingOf, put, putOne, streamOf, upload } from '../blobs.fixture.ts'
import { blobStoreContract } from '../contract.ts'
import { memoryStore } from '../memory-store.ts'
import { through } from './read-through.fixture.ts'

const random = randomFrom(11_07)
const small = random.bytes(5000)
const big = random.bytes(9_000_000)

blobStoreContract('read through an empty upstream', () => through())
blobStoreContract('read through, and written through', () => through({ writeThrough: true }))
blobStoreContract('read through an upstream that is down', () => through({ upstream: down(), writeThrough: true }))

function down(fault: FaultError = new FaultError({ kind: 'unavailable', what: 'no such host' })): BlobStore {
  const fail = async (): Promise<never> => {
    throw fault
  }
  const writer = { write: fail, commit: fail, abort() {} }
  return { missing: fail, find: fail, readMany: fail, read: fail, writeMany: fail, write: () => writer }
}

/** Counts the requests to an upstream. */
function counted(inner: BlobStore) {
  const counts = { missing: 0, readMany: 0, read: 0, readBlobs: 0 }
  const store: BlobStore = {
    ...inner,
    async missing(list, absent) {
      counts.missing++
      await inner.missing(list, absent)
    },
    async readMany(list, into) {
      counts.readMany++
      counts.readBlobs += list.count
      await inner.readMany(list, into)
    },
    async read(digest, range, signal) {
      counts.read++
      return await inner.read(digest, range, signal)
    },
  }
  return { counts, store }
}

describe('readThrough, blob only in the upstream', () => {
  test('is not reported as missing; a blob in neither store is', async () => {
    const upstream = memoryStore()
    const local = memoryStore()
    const store = through({ local, upstream })
    const there = await putOne(upstream, small)
    const here = await putOne(local, big)
    const never = digestOf(Buffer.from('never'))
    expect(await missingOf(store, [never, here, there, never])).toEqual([true, false, false, true])
  })

  test.each([
    ['read', (store: BlobStore, bytes: Buffer) => bytesOf(store, digestOf(bytes))],
    ['readMany', async (store: BlobStore, bytes: Buffer) => (await manyOf(store, [digestOf(bytes)]))[0]],
  ])('is returned by %s, and read locally from then on', async (_, read) => {
    for (const bytes of [small, big]) {
      const local = memoryStore()
      const upstream = counted(memoryStore())
      await putOne(upstream.store, bytes)
      const store = through({ local, upstream: upstream.store })
      expect((await read(store, bytes))?.equals(bytes)).toBe(true)
      expect(await holds(local, digestOf(bytes))).toBe(true)
      const { counts } = upstream
      const before = { ...counts }
      expect((await read(store, bytes))?.equals(bytes)).toBe(true)
      expect(counts).toEqual(before)
    }
  })

  test('is fetched once for 8 concurrent readers', async () => {
    const upstream = counted(memoryStore())
    await putOne(upstream.store, big)
    const store = through({ upstream: upstream.store })
    const all = await Promise.all(Array.from({ length: 8 }, () => bytesOf(store, digestOf(big))))
    expect(all.every((bytes) => bytes?.equals(big))).toBe(true)
    expect(upstream.counts.read).toBe(1)
  })

  test('is fetched once for 5 concurrent batches, also when a batch names it twice', async () => {
    const upstream = counted(memoryStore())
    const blobs = Array.from({ length: 20 }, () => random.bytes(1000))
    const digests = await put(upstream.store, ...blobs)
    const store = through({ upstream: upstream.store })
    const all = await Promise.all(Array.from({ length: 5 }, () => manyOf(store, [...digests, ...digests])))
    for (const answers of all) expect(answers).toEqual([...blobs, ...blobs])
    expect(upstream.counts.readBlobs).toBe(20)
  })

  test('is not stored locally when only a range is read', async () => {
    const local = memoryStore()
    const upstream = memoryStore()
    const digest = await putOne(upstream, big)
    const part = await bytesOf(through({ local, upstream }), digest, { offset: 5_000_000, limit: 1000 })
    expect(part?.equals(big.subarray(5_000_000, 5_001_000))).toBe(true)
    expect(await holds(local, digest)).toBe(false)
  })

  test('is stored and sent on as zstd when the upstream sends zstd', async () => {
    const bytes = Buffer.from('so far so good; '.repeat(30_000))
    const zstd = zstdCompressSync(bytes)
    const upstream = memoryStore()
    const local = memoryStore()
    await upload(upstream, { digest: digestOf(bytes), bytes: zstd, form: 'zstd' })
    const store = through({ local, upstream })
    const as = await streamOf(store, digestOf(bytes), { offset: 0, acceptZstd: true })
    expect([as?.form, as?.bytes.equals(zstd)]).toEqual(['zstd', true])
    const kept = await streamOf(local, digestOf(bytes), { offset: 0, acceptZstd: true })
    expect([kept?.form, kept?.bytes.equals(zstd)]).toEqual(['zstd', true])
    expect((await bytesOf(store, digestOf(bytes)))?.equals(bytes)).toBe(true)
  })
})

describe('readThrough, upstream down', () => {
  const digest = digestOf(small)

  test('local blobs are served, and others are absent', async () => {
    const local = memoryStore()
    const here = await putOne(local, big)
    const store = through({ local, upstream: down() })
    expect(await missingOf(store, [here, digest])).toEqual([false, true])
    expect((await bytesOf(store, here))?.equals(big)).toBe(true)
    expect(await store.read(digest, { offset: 0 })).toBeUndefined()
    expect((await manyOf(store, [digest, here])).map((bytes) => bytes?.length)).toEqual([undefined, big.length])
  })

  test('an absent blob is a fault of kind unavailable with whenDown "unavailable"', async () => {
    const local = memoryStore()
    const here = await putOne(local, big)
    const store = through({ local, upstream: down(), whenDown: 'unavailable' })
    const fault = { fault: { kind: 'unavailable' } }
    await expect(missingOf(store, [here, digest])).rejects.toMatchObject(fault)
    await expect(store.read(digest, { offset: 0 })).rejects.toMatchObject(fault)
    await expect(manyOf(store, [digest])).rejects.toMatchObject(fault)
    expect((await bytesOf(store, here))?.equals(big)).toBe(true)
  })

  test('the upstream is retried after 1, 2 and 4 s, and used again when it is back', async () => {
    const clock = manualClock()
    const inner = memoryStore()
    await putOne(inner, small)
    let isDown = true
    const upstream = counted({
      ...inner,
      missing: (list, absent) => (isDown ? down().missing(list, absent) : inner.missing(list, absent)),
    })
    const story: string[] = []
    const store = through({
      upstream: upstream.store,
      clock,
      events: { resting: (ms) => story.push(`rests ${ms}`), back: () => story.push('back') },
    })
    for (const ms of [0, 999, 1, 1999, 1, 3999]) {
      clock.advance(ms)
      expect(await holds(store, digest)).toBe(false)
    }
    expect(upstream.counts.missing).toBe(3)
    isDown = false
    clock.advance(1)
    expect(await holds(store, digest)).toBe(true)
    expect(story).toEqual(['rests 1000', 'rests 2000', 'rests 4000', 'back'])
  })

  test('faults of kind invalid and data-loss do not count as downtime', async () => {
    const story: string[] = []
    const events = { resting: () => story.push('rests'), failed: (doing: string) => story.push(doing) }
    for (const fault of [
      { kind: 'invalid', what: 'no such function' },
      { kind: 'bug', what: 'bad bytes', why: 'data-loss' },
    ] as const) {
      const store = through({ upstream: down(new FaultError(fault)), events })
      expect(await holds(store, digest)).toBe(false)
      expect(await store.read(digest, { offset: 0 })).toBeUndefined()
    }
    expect(story).toEqual(['find missing blobs', 'read a blob', 'find missing blobs', 'read a blob'])
  })
})

describe('readThrough, writes', () => {
  test.each(['denied', 'exhausted'] as const)(
    'a write that is %s upstream does not affect reads from the upstream',
    async (kind) => {
      const fault = new FaultError(
        kind === 'denied' ? { kind, what: 'no' } : { kind, resource: 'disk', retryAfterMs: 1000 },
      )
      const upstream = memoryStore()
      await putOne(upstream, big)
      const { write, writeMany } = down(fault)
      const store = through({ upstream: { ...upstream, write, writeMany }, writeThrough: true })
      await putOne(store, small)
      await upload(store, { digest: digestOf(small.subarray(1)), bytes: small.subarray(1) })
      expect((await bytesOf(store, digestOf(big)))?.equals(big)).toBe(true)
    },
  )

  test('stay local without writeThrough', async () => {
    const upstream = memoryStore()
    const store = through({ upstream })
    await putOne(store, small)
    await upload(store, { digest: digestOf(big), bytes: big })
    expect(await missingOf(upstream, [digestOf(small), digestOf(big)])).toEqual([true, true])
  })

  test('go to both stores with writeThrough', async () => {
    const upstream = memoryStore()
    const local = memoryStore()
    const store = through({ upstream, local, writeThrough: true })
    await putOne(store, small)
    await upload(store, { digest: digestOf(big), bytes: big })
    for (const each of [local, upstream]) {
      expect(await missingOf(each, [digestOf(small), digestOf(big)])).toEqual([false, false])
      expect((await bytesOf(each, digestOf(big)))?.equals(big)).toBe(true)
    }
  })

  test('that fail upstream halfway are still stored locally', async () => {
    const local = memoryStore()
    let aborted = 0
    const upstream: BlobStore = {
      ...memoryStore(),
      write: () => ({
        write: (bytes) => (bytes.length > 50_000 ? undefined : Promise.reject(new Error('gone'))),
        commit: async () => {},
        abort: () => void aborted++,
      }),
    }
    const store = through({ local, upstream, writeThrough: true })
    const writer = store.write(digestOf(big), 'identity')
    await writer.write(big.subarray(0, 1_000_000))
    await writer.write(big.subarray(1_000_000, 1_000_100))
    await writer.write(big.subarray(1_000_100))
    await writer.commit()
    expect(aborted).toBe(1)
    expect((await bytesOf(local, digestOf(big)))?.equals(big)).toBe(true)
  })
})
