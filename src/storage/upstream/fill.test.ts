import { afterAll, describe, expect, test } from 'vitest'
import { FaultError } from '../../base/fault.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { randomFrom } from '../../testing/random-source.ts'
import type { BlobReader, BlobStore, ReadRange } from '../blob-store.ts'
import { bytesOf, digestOf, holds, manyOf, put, putOne } from '../blobs.fixture.ts'
import { threadPool } from '../bulk/thread-pool.ts'
import { memoryStore } from '../memory-store.ts'
import { through } from './read-through.fixture.ts'
import { trueReader } from './truth.ts'

const random = randomFrom(11_08)
const small = random.bytes(5000)
const big = random.bytes(9_000_000)
const bulk = threadPool(1)
afterAll(() => bulk.close())

/** An upstream that sends a blob in pieces, each when the test allows it. */
function slow(bytes: Buffer, pieceBytes = 100_000) {
  let sent = 0
  let isCancelled = false
  let gate = Promise.withResolvers<void>()
  let allowed = 0
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        while (sent >= allowed) await gate.promise
        sent++
        yield bytes.subarray(at, at + pieceBytes)
      }
    } finally {
      isCancelled = sent * pieceBytes < bytes.length
    }
  }
  const store: BlobStore = { ...memoryStore(), read: async () => ({ form: 'identity', pieces: pieces() }) }
  const allow = (count: number) => {
    allowed += count
    gate.resolve()
    gate = Promise.withResolvers<void>()
  }
  return { store, allow, sent: () => sent, isCancelled: () => isCancelled }
}

const turns = async (count = 50): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

const reading = async (store: BlobStore, bytes: Buffer, signal?: AbortSignal) => {
  const reader = (await store.read(digestOf(bytes), { offset: 0 }, signal)) as BlobReader
  return reader.pieces[Symbol.asyncIterator]()
}

async function restOf(pieces: AsyncIterator<Uint8Array>, before: readonly Uint8Array[] = []): Promise<Buffer> {
  const all = [...before]
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) all.push(Buffer.from(next.value))
  return Buffer.concat(all)
}

describe('a fill from the upstream', () => {
  test('streams each piece to the reader before the whole blob has arrived', async () => {
    const upstream = slow(big)
    const store = through({ upstream: upstream.store })
    const pieces = await reading(store, big)
    upstream.allow(1)
    expect((await pieces.next()).value?.length).toBe(100_000)
    upstream.allow(1000)
    expect((await restOf(pieces, [big.subarray(0, 100_000)])).equals(big)).toBe(true)
  })

  test("is limited to its reader's pace, and continues alone after the reader has stalled for 2 s", async () => {
    const clock = manualClock()
    const local = memoryStore()
    const upstream = slow(big)
    const store = through({ upstream: upstream.store, local, clock })
    upstream.allow(1000)
    const pieces = await reading(store, big)
    await turns()
    const ahead = upstream.sent()
    expect(ahead).toBeLessThan(20)
    for (let i = 0; i < 10; i++) await pieces.next()
    await turns()
    expect(upstream.sent()).toBeGreaterThan(ahead)
    expect(upstream.sent()).toBeLessThan(30)
    clock.advance(2000)
    await turns()
    expect(await holds(local, digestOf(big))).toBe(true)
    expect((await restOf(pieces)).equals(big.subarray(1_000_000))).toBe(true)
  })

  test('is not delayed by a slow reader while another is fast', async () => {
    const upstream = slow(big)
    const store = through({ upstream: upstream.store })
    upstream.allow(1000)
    const stuck = await reading(store, big)
    const first = Buffer.from((await stuck.next()).value as Uint8Array)
    const fast = await reading(store, big)
    expect((await restOf(fast)).equals(big)).toBe(true)
    expect((await restOf(stuck, [first])).equals(big)).toBe(true)
  })

  test('continues after its reader has left', async () => {
    const local = memoryStore()
    const upstream = slow(big)
    const store = through({ upstream: upstream.store, local })
    upstream.allow(5)
    const left = new AbortController()
    const pieces = await reading(store, big, left.signal)
    await pieces.next()
    left.abort()
    await expect(pieces.next()).rejects.toMatchObject({ fault: { kind: 'cancelled' } })
    upstream.allow(1000)
    await turns(200)
    expect(await holds(local, digestOf(big))).toBe(true)
  })

  test('of a blob of 100 GB is cancelled when its last reader leaves', async () => {
    const upstream = slow(big)
    const store = through({ upstream: upstream.store })
    upstream.allow(5)
    const huge = { ...digestOf(big), size: 10 ** 11 }
    const readers = await Promise.all([0, 1].map(() => store.read(huge, { offset: 0 })))
    const [one, other] = readers.map((reader) => (reader as BlobReader).pieces[Symbol.asyncIterator]())
    await one?.next()
    await one?.return?.()
    upstream.allow(5)
    await other?.next()
    await turns()
    expect(upstream.isCancelled()).toBe(false)
    await other?.return?.()
    upstream.allow(1)
    await turns()
    expect(upstream.isCancelled()).toBe(true)
  })

  test('that cannot be stored locally still serves its readers', async () => {
    const full = new FaultError({ kind: 'exhausted', resource: 'disk', retryAfterMs: 1000 })
    const inner = memoryStore()
    let written = 0
    const local: BlobStore = {
      ...inner,
      writeMany: () => Promise.reject(full),
      write: () => ({
        async write() {
          if (++written === 3) throw full
        },
        commit: () => Promise.reject(full),
        abort() {},
      }),
    }
    const upstream = memoryStore()
    const told: unknown[] = []
    await put(upstream, small, big)
    const store = through({ local, upstream, events: { notKept: (error) => told.push(error) } })
    const both = await Promise.all([bytesOf(store, digestOf(big)), bytesOf(store, digestOf(big))])
    expect(both.map((bytes) => bytes?.equals(big))).toEqual([true, true])
    expect(await manyOf(store, [digestOf(small)])).toEqual([small])
    expect(told).toEqual([full, full])
  })

  test('that was not stored is fetched again for a reader that fell behind', async () => {
    const local: BlobStore = {
      ...memoryStore(),
      write: () => ({ write: () => Promise.reject(new Error('disk')), commit: async () => {}, abort() {} }),
    }
    const upstream = memoryStore()
    const digest = await putOne(upstream, big)
    const pieced: BlobStore = {
      ...upstream,
      async read(_, { offset }: ReadRange) {
        async function* pieces(): AsyncGenerator<Uint8Array> {
          for (let at = offset; at < big.length; at += 50_000) yield big.subarray(at, at + 50_000)
        }
        return { form: 'identity', pieces: pieces() }
      },
    }
    const store = through({ local, upstream: pieced })
    const behind = await reading(store, big)
    const first = Buffer.from((await behind.next()).value as Uint8Array)
    expect((await bytesOf(store, digest))?.equals(big)).toBe(true)
    expect((await restOf(behind, [first])).equals(big)).toBe(true)
  })

  test('with wrong bytes fails with data-loss, and is not stored', async () => {
    for (const bytes of [small, big]) {
      const wrong = Buffer.from(bytes)
      wrong[17] = ((wrong[17] as number) + 1) % 256
      const local = memoryStore()
      const upstream: BlobStore = {
        ...memoryStore(),
        async read(digest) {
          async function* pieces(): AsyncGenerator<Uint8Array> {
            for (let at = 0; at < wrong.length; at += 100_000) yield wrong.subarray(at, at + 100_000)
          }
          return trueReader(bulk, digest, { form: 'identity', pieces: pieces() })
        },
      }
      const pieces = await reading(through({ local, upstream }), bytes)
      let have = 0
      const all = (async () => {
        for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) have += next.value.length
      })()
      await expect(all).rejects.toMatchObject({ fault: { kind: 'bug', why: 'data-loss' } })
      expect(have).toBeLessThan(bytes.length)
      expect(await holds(local, digestOf(bytes))).toBe(false)
    }
  })
})
