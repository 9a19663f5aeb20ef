import { describe, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import type { ReclaimGoal, ReclaimProgress } from '../../model/storage-figures.ts'
import { randomFrom, seedOfRun } from '../../testing/random-source.ts'
import { bytesOf, holds, missingOf, putOne } from '../blobs.fixture.ts'
import type { FileLayer } from './file-layer.ts'
import { forgetfulFiles } from './forgetful-files.fixture.ts'
import { openOn, turns } from './pack-store.fixture.ts'
import type { PackStore } from './pack-store.ts'

const KiB = 1024
const random = randomFrom(23)
/** Far below its limit, so that blobs are evicted only on request. */
const ROOMY = { maxBytes: 4096 * KiB, packBytes: 64 * KiB, soloBytes: 16 * KiB }

interface Ask {
  readonly signal?: AbortSignal
  readonly isDryRun?: boolean
  progress?(progress: ReclaimProgress): void
}

const ask = (store: PackStore, goal: ReclaimGoal, { signal, isDryRun = false, progress = () => {} }: Ask = {}) =>
  store.admin.reclaim({ goal, isDryRun }, { signal: signal ?? new AbortController().signal, progress })

async function putMany(store: PackStore, count: number, bytes = 4000): Promise<Digest[]> {
  const digests: Digest[] = []
  for (let i = 0; i < count; i++) digests.push(await putOne(store.space(0), random.bytes(bytes)))
  return digests
}

const areAbsent = (store: PackStore, digests: readonly Digest[]) => missingOf(store.space(0), digests)

describe('reclaim to a size', () => {
  test('evicts the least recently used blobs until the disk usage is at most that size', async () => {
    const { store, clock } = await openOn(forgetfulFiles(), ROOMY)
    const old = await putMany(store, 100)
    clock.advance(3600_000)
    const fresh = await putMany(store, 100)
    const before = store.figures().diskBytes
    const done = await ask(store, { kind: 'size', toBytes: 500 * KiB })
    expect(store.figures().diskBytes).toBeLessThanOrEqual(500 * KiB)
    expect(done).toMatchObject({ isDone: true, diskBytes: store.figures().diskBytes })
    expect(before - done.diskBytes).toBe(done.freedBytes)
    expect(await areAbsent(store, fresh)).toEqual(fresh.map(() => false))
    expect((await areAbsent(store, old)).filter(Boolean)).toHaveLength(done.evictedBlobs)
    await store.close()
  })

  test('evicts nothing when the disk usage is already below that size', async () => {
    const { store } = await openOn(forgetfulFiles(), ROOMY)
    const digests = await putMany(store, 20)
    const done = await ask(store, { kind: 'size', toBytes: 4000 * KiB })
    expect(done).toMatchObject({ freedBytes: 0, evictedBlobs: 0, isDone: true })
    expect(await areAbsent(store, digests)).toEqual(digests.map(() => false))
    await store.close()
  })

  test('keeps pinned blobs and the open pack, even at size 0', async () => {
    const { store } = await openOn(forgetfulFiles(), ROOMY)
    const digests = await putMany(store, 100)
    const large = await putOne(store.space(0), random.bytes(100 * KiB))
    const roots = [large, ...digests.filter((_, i) => i % 10 === 0)]
    for (const digest of roots) store.pin(digest)
    const done = await ask(store, { kind: 'size', toBytes: 0 })
    expect(done.pinnedBytes).toBeGreaterThan(140_000)
    expect(done.openFileBytes).toBeGreaterThan(0)
    expect(done.evictedBlobs).toBeGreaterThan(60)
    for (const digest of roots) expect(await bytesOf(store.space(0), digest)).toHaveLength(digest.size)
    await store.close()
  })

  test('ends while uploads continue, and keeps blobs uploaded after the request', async () => {
    const files = forgetfulFiles()
    const unlink = async (path: string) => {
      await turns(5) // lets uploads proceed
      await files.unlink(path)
    }
    const { store, clock } = await openOn({ ...files, unlink }, { ...ROOMY, maxBytes: 16_384 * KiB })
    const old = await putMany(store, 200)
    clock.advance(1000)
    const uploads: Promise<Digest>[] = []
    const progress = () => {
      // For every removed pack, more than one pack of new blobs arrives.
      for (let i = 0; i < 20 && uploads.length < 2000; i++) {
        clock.advance(1000)
        uploads.push(putOne(store.space(0), random.bytes(4000)))
      }
    }
    const done = await ask(store, { kind: 'size', toBytes: 0 }, { progress })
    const later = await Promise.all(uploads)
    expect(done.evictedBlobs).toBeGreaterThan(150)
    expect((await areAbsent(store, old)).filter(Boolean)).toHaveLength(done.evictedBlobs)
    expect(later.length).toBeLessThan(2000)
    expect(await areAbsent(store, later)).toEqual(later.map(() => false))
    await store.close()
  })

  test('a dry run estimates the freed bytes within 100 KiB and changes nothing', async () => {
    const { store, clock } = await openOn(forgetfulFiles(), ROOMY)
    await putMany(store, 100)
    clock.advance(3600_000)
    await putMany(store, 100)
    const before = store.figures()
    const goal = { kind: 'size', toBytes: 480 * KiB } as const
    const said = await ask(store, goal, { isDryRun: true })
    expect(store.figures()).toEqual(before)
    const done = await ask(store, goal)
    expect(Math.abs(said.freedBytes - done.freedBytes)).toBeLessThan(100 * KiB)
    await store.close()
  })
})

describe('reclaim by age', () => {
  test('evicts exactly the unpinned blobs not used for that many seconds, small and large', async () => {
    const { store, clock } = await openOn(forgetfulFiles(), ROOMY)
    const old = [...(await putMany(store, 100)), ...(await putMany(store, 3, 50 * KiB))]
    const pinned = await putOne(store.space(0), random.bytes(3000))
    store.pin(pinned)
    const touched = old.splice(0, 10)
    clock.advance(3600_000)
    await areAbsent(store, touched)
    const fresh = await putMany(store, 40)
    clock.advance(1800_000)
    const said = await ask(store, { kind: 'age', olderThanSeconds: 5000 }, { isDryRun: true })
    const done = await ask(store, { kind: 'age', olderThanSeconds: 5000 })
    expect(await areAbsent(store, old)).toEqual(old.map(() => true))
    for (const digest of [...fresh, ...touched, pinned]) {
      expect(await bytesOf(store.space(0), digest)).toHaveLength(digest.size)
    }
    expect(done.evictedBlobs).toBe(old.length)
    expect(done.freedBytes).toBeGreaterThan(400_000)
    expect(said).toMatchObject({ evictedBlobs: done.evictedBlobs })
    expect(Math.abs(said.freedBytes - done.freedBytes)).toBeLessThan(80 * KiB)
    await store.close()
  })

  test('evicts nothing when no blob is that old', async () => {
    const { store } = await openOn(forgetfulFiles(), ROOMY)
    await putMany(store, 50)
    expect(await ask(store, { kind: 'age', olderThanSeconds: 1 })).toMatchObject({ evictedBlobs: 0, freedBytes: 0 })
    await store.close()
  })
})

test('reclaim without a goal evicts no blob and frees only unused space', async () => {
  const { store, clock } = await openOn(forgetfulFiles(), ROOMY)
  const values = store.values()
  const name = new Uint8Array(32)
  for (let i = 0; i < 60; i++) await values.put(name, random.bytes(4000)) // only the last value is live
  const digests = await putMany(store, 60)
  clock.advance(1000)
  const before = store.figures()
  const said = await ask(store, { kind: 'waste' }, { isDryRun: true })
  const done = await ask(store, { kind: 'waste' })
  expect(done.evictedBlobs).toBe(0)
  expect(done.freedBytes).toBeGreaterThan(150_000)
  expect(Math.abs(said.freedBytes - done.freedBytes)).toBeLessThan(64 * KiB)
  expect(store.figures()).toMatchObject({ blobs: before.blobs, liveBytes: before.liveBytes })
  for (const digest of digests) expect(await bytesOf(store.space(0), digest)).toHaveLength(4000)
  expect(await values.get(name)).toHaveLength(4000)
  await store.close()
})

describe('concurrent reclaim requests', () => {
  test('a second request is refused as invalid (exists), and succeeds after the first has ended', async () => {
    const { store } = await openOn(forgetfulFiles(), ROOMY)
    await putMany(store, 100)
    const first = ask(store, { kind: 'size', toBytes: 0 })
    const again = {
      fault: { kind: 'invalid', why: 'exists', what: expect.stringContaining('already reclaiming space') },
    }
    await expect(ask(store, { kind: 'waste' })).rejects.toMatchObject(again)
    await first
    expect(await ask(store, { kind: 'waste' })).toMatchObject({ isDone: true })
    await store.close()
  })

  test('uploads continue within the size limit while a request is reclaiming', async () => {
    const { store, clock } = await openOn(forgetfulFiles(), { ...ROOMY, maxBytes: 1024 * KiB })
    for (let i = 0; i < 10; i++) {
      const asked = ask(store, { kind: 'age', olderThanSeconds: 10_000 })
      for (let j = 0; j < 60; j++) {
        await putOne(store.space(0), random.bytes(random.below(8000)))
        clock.advance(100)
        expect(store.figures().diskBytes).toBeLessThanOrEqual(1024 * KiB)
      }
      await asked
    }
    await store.close()
  })
})

describe('interrupted reclaim', () => {
  test('stops with a fault of kind cancelled when its signal aborts, and keeps the remaining blobs', async () => {
    const { store } = await openOn(forgetfulFiles(), ROOMY)
    await putMany(store, 300)
    const leaving = new AbortController()
    let told = 0
    const asked = ask(
      store,
      { kind: 'size', toBytes: 0 },
      {
        signal: leaving.signal,
        progress() {
          if (++told === 3) leaving.abort()
        },
      },
    )
    await expect(asked).rejects.toMatchObject({ fault: { kind: 'cancelled' } })
    expect(told).toBe(3)
    expect(store.figures().blobs).toBeGreaterThan(200)
    expect(await ask(store, { kind: 'size', toBytes: 0 })).toMatchObject({ isDone: true })
    await store.close()
  })

  test('stops as unavailable when the store closes, and the remaining blobs are there after reopening', async () => {
    const files = forgetfulFiles()
    const { store } = await openOn(files, ROOMY)
    const digests = await putMany(store, 300)
    let closed: Promise<void> | undefined
    const progress = () => {
      closed ??= store.close()
    }
    const asked = ask(store, { kind: 'size', toBytes: 0 }, { progress })
    await expect(asked).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
    await closed
    const { store: again } = await openOn(files, ROOMY)
    for (const digest of digests) {
      if (await holds(again.space(0), digest)) expect(await bytesOf(again.space(0), digest)).toHaveLength(4000)
    }
    await again.close()
  })
})

test('with durability power, reclaim does not evict a written blob before its sync', async () => {
  const files = forgetfulFiles()
  let disk = Promise.withResolvers<void>()
  const slow: FileLayer = {
    ...files,
    open(path, how) {
      const file = files.open(path, how)
      return {
        ...file,
        async sync() {
          if (path.startsWith('packs/')) await disk.promise
          await file.sync()
        },
      }
    },
  }
  disk.resolve()
  const { store, heard } = await openOn(slow, { ...ROOMY, durability: 'power' })
  disk = Promise.withResolvers<void>()
  const puts = Array.from({ length: 4 }, async () => await putMany(store, 1, 15_000))
  await turns(20)
  const more = Array.from({ length: 4 }, async () => await putMany(store, 1, 15_000)) // the first pack is full now
  await turns(20)
  const asked = ask(store, { kind: 'size', toBytes: 0 })
  await turns(20)
  disk.resolve()
  const digests = (await Promise.all([...puts, ...more])).flat()
  await asked
  for (const digest of digests) {
    if (await holds(store.space(0), digest)) expect(await bytesOf(store.space(0), digest)).toHaveLength(15_000)
  }
  expect(heard.filter((event) => !event.startsWith('reclaimed'))).toEqual([])
  await store.close()
})

test('figures report evicted blobs and freed bytes since opening, and the age of the oldest touch', async () => {
  const { store, clock } = await openOn(forgetfulFiles(), ROOMY)
  expect(await store.admin.figures()).toMatchObject({ blobs: 0, oldestTouchSeconds: undefined, evictedBlobs: 0 })
  await putMany(store, 100)
  clock.advance(3600_000)
  await putMany(store, 10)
  expect(await store.admin.figures()).toMatchObject({
    ...{ blobs: 110, limitBytes: ROOMY.maxBytes, pinnedBlobs: 0, oldestTouchSeconds: 3600, openSeconds: 3600 },
    ...{ isReclaiming: false, evictedBlobs: 0, freedBytes: 0 },
  })
  const { freedBytes } = await ask(store, { kind: 'age', olderThanSeconds: 60 })
  clock.advance(20_000)
  expect(await store.admin.figures()).toMatchObject({
    blobs: 10,
    evictedBlobs: 100,
    freedBytes,
    oldestTouchSeconds: 20,
  })
  await store.close()
})

const seed = seedOfRun()

describe.each(['power', 'process'] as const)('reclaim with durability %s', (durability) => {
  const SIZES = { maxBytes: 2048 * KiB, packBytes: 32 * KiB, soloBytes: 16 * KiB, syncEveryBytes: 64 * KiB }
  const GOALS: readonly ReclaimGoal[] = [
    { kind: 'size', toBytes: 60 * KiB },
    { kind: 'waste' },
    { kind: 'age', olderThanSeconds: 20 },
  ]

  /** Pinned blobs that are synced, while everything around them is reclaimed repeatedly. */
  const run = async (cutAt: number) => {
    const source = randomFrom(seed)
    const files = forgetfulFiles()
    files.cutAtWrite(cutAt)
    const safe: [Digest, Buffer][] = []
    const work = async () => {
      const { store, clock } = await openOn(files, { ...SIZES, durability })
      let fresh: [Digest, Buffer][] = []
      for (let i = 0; i < 60; i++) {
        const bytes = source.bytes(2000 + source.below(4000))
        const digest = await putOne(store.space(0), bytes)
        if (i % 7 === 0) {
          store.pin(digest)
          fresh.push([digest, bytes])
        }
        clock.advance(1000)
        if (i % 10 !== 9) continue
        clock.advance(5000)
        await turns(30) // the sync that is due
        if (files.writes >= cutAt) return // the power was cut before the sync
        safe.push(...fresh)
        fresh = []
        await ask(store, GOALS[Math.floor(i / 10) % 3] as ReclaimGoal)
      }
      await store.close()
    }
    await work().catch(() => {})
    return { files, safe }
  }

  test(`a power cut during a reclaim request loses no synced pinned blob (WINDLASS_SEED=${seed})`, async () => {
    const whole = await run(Number.POSITIVE_INFINITY)
    expect(whole.safe).toHaveLength(9)
    for (let cut = 20; cut < whole.files.writes; cut += 2) {
      const { files, safe } = await run(cut)
      const { store } = await openOn(files.afterCut(randomFrom(seed + cut)), { durability })
      for (const [digest, bytes] of safe) {
        expect((await bytesOf(store.space(0), digest))?.equals(bytes), `cut at write ${cut}`).toBe(true)
      }
    }
  }, 900_000)
})
