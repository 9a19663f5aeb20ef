import { zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { randomFrom } from '../testing/random-source.ts'
import type { BlobStore } from './blob-store.ts'
import {
  bytesOf,
  digestOf,
  holds,
  listOf,
  manyOf,
  missingOf,
  type NodeFunction,
  put,
  putOne,
  streamOf,
  upload,
} from './blobs.fixture.ts'

const random = randomFrom(20_24)
const small = random.bytes(5000)
const medium = random.bytes(300_000)
const big = random.bytes(9_000_000)
const text = Buffer.from('so far so good; '.repeat(30_000))
const FUNCTIONS: readonly NodeFunction[] = ['sha256', 'sha1', 'md5', 'sha384', 'sha512']

/** The behaviour of every blob store. */
export function blobStoreContract(name: string, makeStore: () => BlobStore | Promise<BlobStore>): void {
  describe(`${name}: blob store`, () => {
    describe('presence', () => presence(makeStore))
    describe('find', () => finding(makeStore))
    describe('write', () => writing(makeStore))
    describe('read', () => reading(makeStore))
    describe('zstd', () => compressed(makeStore))
  })
}

type Make = () => BlobStore | Promise<BlobStore>

function presence(makeStore: Make): void {
  test('missing reports absent blobs in the order of the request', async () => {
    const store = await makeStore()
    const first = await putOne(store, small)
    const second = await putOne(store, medium)
    const never = digestOf(Buffer.from('never written'))
    expect(await missingOf(store, [never, first, never, second])).toEqual([true, false, true, false])
    expect(await missingOf(store, [])).toEqual([])
  })

  test('an empty store holds no blob', async () => {
    const store = await makeStore()
    const digest = digestOf(small)
    expect(await holds(store, digest)).toBe(false)
    expect(await store.read(digest, { offset: 0 })).toBeUndefined()
    expect(await manyOf(store, [digest])).toEqual([undefined])
  })

  test('the same hash with another size is another blob', async () => {
    const store = await makeStore()
    const digest = await putOne(store, small)
    const other = { ...digest, size: digest.size + 1 }
    expect(await holds(store, other)).toBe(false)
    expect(await bytesOf(store, other)).toBeUndefined()
    expect(await manyOf(store, [other, digest])).toEqual([undefined, small])
  })

  test.each(FUNCTIONS)('a blob under %s is absent under other digest functions', async (fn) => {
    const store = await makeStore()
    const digest = digestOf(small, fn)
    await store.writeMany(listOf([digest]), [small])
    for (const other of FUNCTIONS) expect(await holds(store, digestOf(small, other))).toBe(other === fn)
    expect(await bytesOf(store, digest)).toEqual(small)
    expect(await manyOf(store, [digest])).toEqual([small])
  })

  test('what differs only in the function, as two blobs', async () => {
    const store = await makeStore()
    const hash = 'ab'.repeat(32)
    const one = { fn: 'sha256', hash, size: 3 } as const
    const other = { fn: 'blake3', hash, size: 3 } as const
    await store.writeMany(listOf([one]), [Buffer.from('one')])
    await store.writeMany(listOf([other]), [Buffer.from('two')])
    expect(await bytesOf(store, one)).toEqual(Buffer.from('one'))
    expect(await bytesOf(store, other)).toEqual(Buffer.from('two'))
  })

  test('the empty blob is absent until it is written, because a decorator serves it', async () => {
    const store = await makeStore()
    const empty = digestOf(Buffer.alloc(0))
    expect(await holds(store, empty)).toBe(false)
    await store.writeMany(listOf([empty]), [Buffer.alloc(0)])
    expect(await holds(store, empty)).toBe(true)
    expect(await bytesOf(store, empty)).toEqual(Buffer.alloc(0))
    expect(await manyOf(store, [empty])).toEqual([Buffer.alloc(0)])
  })

  test('a blob may be written again, also twice in one call', async () => {
    const store = await makeStore()
    const digest = digestOf(small)
    await store.writeMany(listOf([digest, digest]), [small, small])
    await store.writeMany(listOf([digest]), [small])
    await upload(store, { digest, bytes: small })
    expect(await bytesOf(store, digest)).toEqual(small)
  })

  test('1,000 blobs can be written in one call', async () => {
    const store = await makeStore()
    const blobs = Array.from({ length: 1000 }, (_, i) => random.bytes(i * 3))
    const digests = await put(store, ...blobs)
    expect(await missingOf(store, digests)).toEqual(blobs.map(() => false))
    expect(await manyOf(store, digests)).toEqual(blobs)
  })

  test('concurrent writers can write the same blob', async () => {
    const store = await makeStore()
    const blobs = Array.from({ length: 50 }, () => random.bytes(20_000))
    const shared = digestOf(medium)
    await Promise.all([
      ...blobs.map((bytes) => put(store, bytes, medium)),
      ...Array.from({ length: 10 }, () => upload(store, { digest: shared, bytes: medium })),
    ])
    expect(
      await manyOf(
        store,
        blobs.map((bytes) => digestOf(bytes)),
      ),
    ).toEqual(blobs)
    expect(await bytesOf(store, shared)).toEqual(medium)
  })
}

function finding(makeStore: Make): void {
  test.each(FUNCTIONS)('the digest of a blob under %s, and nothing of another function', async (fn) => {
    const store = await makeStore()
    const digest = digestOf(small, fn)
    expect(await store.find(fn, digest.hash)).toBeUndefined()
    await store.writeMany(listOf([digest]), [small])
    expect(await store.find(fn, digest.hash)).toEqual(digest)
    for (const other of FUNCTIONS) {
      if (other !== fn) expect(await store.find(other, digestOf(small, other).hash)).toBeUndefined()
    }
  })

  test('a blob of any size, however it came, and only once it is committed', async () => {
    const store = await makeStore()
    for (const bytes of [Buffer.alloc(0), small, medium, big]) {
      const { fn, hash, size } = digestOf(bytes)
      const writer = store.write({ fn, hash, size }, 'identity')
      await writer.write(bytes)
      expect(await store.find(fn, hash)).toBeUndefined()
      await writer.commit()
      expect(await store.find(fn, hash)).toEqual({ fn, hash, size })
    }
    const zstd = digestOf(text)
    await upload(store, { digest: zstd, bytes: zstdCompressSync(text), form: 'zstd' })
    expect(await store.find('sha256', zstd.hash)).toEqual(zstd)
  })

  test('one of a thousand, and none whose hash differs in a digit', async () => {
    const store = await makeStore()
    const digests = await put(store, ...Array.from({ length: 1000 }, (_, i) => random.bytes(10 + i)))
    for (const digest of digests) {
      expect(await store.find(digest.fn, digest.hash)).toEqual(digest)
      const other = digest.hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
      expect(await store.find(digest.fn, other)).toBeUndefined()
    }
  })
}

function writing(makeStore: Make): void {
  test.each([
    ['a small blob', small],
    ['a medium blob', medium],
    ['a big blob', big],
    ['an empty blob', Buffer.alloc(0)],
  ])('accepts %s in pieces, and the caller may reuse each piece', async (_, bytes) => {
    const store = await makeStore()
    const digest = digestOf(bytes)
    await upload(store, { digest, bytes, pieceBytes: 77_777 })
    expect(await holds(store, digest)).toBe(true)
    expect((await bytesOf(store, digest))?.equals(bytes)).toBe(true)
  })

  test('makes a blob visible only at its commit', async () => {
    const store = await makeStore()
    for (const bytes of [small, big]) {
      const digest = digestOf(bytes)
      const writer = store.write(digest, 'identity')
      await writer.write(bytes)
      expect(await holds(store, digest)).toBe(false)
      await writer.commit()
      expect(await holds(store, digest)).toBe(true)
      writer.abort()
      expect((await bytesOf(store, digest))?.equals(bytes)).toBe(true)
    }
  })

  test('discards an aborted upload, and accepts the blob again', async () => {
    const store = await makeStore()
    for (const bytes of [small, big]) {
      const digest = digestOf(bytes)
      const writer = store.write(digest, 'identity')
      await writer.write(bytes.subarray(0, bytes.length / 2))
      writer.abort()
      expect(await holds(store, digest)).toBe(false)
      await upload(store, { digest, bytes })
      expect((await bytesOf(store, digest))?.equals(bytes)).toBe(true)
    }
  })

  test('accepts one 9 MB blob from two writers at once', async () => {
    const store = await makeStore()
    const digest = digestOf(big)
    await Promise.all([
      upload(store, { digest, bytes: big }),
      upload(store, { digest, bytes: big, pieceBytes: 1_000_000 }),
    ])
    expect((await bytesOf(store, digest))?.equals(big)).toBe(true)
  })
}

function reading(makeStore: Make): void {
  test.each([
    ['small', small],
    ['medium', medium],
    ['big', big],
  ])('returns any range of a %s blob', async (_, bytes) => {
    const store = await makeStore()
    const digest = await putOne(store, bytes)
    const size = bytes.length
    const ranges = [
      [0, size],
      [0, 1],
      [1, undefined],
      [size - 1, undefined],
      [size, undefined],
      [0, 0],
      [65_536, 10],
      [65_535, 2],
      [Math.floor(size / 3), Math.floor(size / 2)],
      [7, size * 2],
    ] as const
    for (const [offset, limit] of ranges) {
      const expected = bytes.subarray(offset, limit === undefined ? undefined : offset + limit)
      const range = limit === undefined ? { offset } : { offset, limit }
      expect((await bytesOf(store, digest, range))?.equals(expected), `${offset} ${limit}`).toBe(true)
    }
  })

  test('readMany returns blobs of all sizes, and reports absent ones', async () => {
    const store = await makeStore()
    const blobs = [big, Buffer.from('never written'), small, text, medium]
    for (const bytes of blobs) if (bytes.length !== 13) await putOne(store, bytes)
    const answers = await manyOf(
      store,
      blobs.map((bytes) => digestOf(bytes)),
    )
    expect(answers.map((bytes, i) => bytes?.equals(blobs[i] as Buffer))).toEqual([true, undefined, true, true, true])
  })

  test('serves several readers of one blob at different offsets', async () => {
    const store = await makeStore()
    const digest = await putOne(store, big)
    const all = await Promise.all([0, 1000, 100_000, 5_000_000].map((offset) => bytesOf(store, digest, { offset })))
    expect(all.map((bytes) => bytes?.length)).toEqual([0, 1000, 100_000, 5_000_000].map((from) => big.length - from))
    expect(all[0]?.equals(big)).toBe(true)
  })

  test('serves a blob again after a reader stopped early', async () => {
    const store = await makeStore()
    const digest = await putOne(store, big)
    const reader = await store.read(digest, { offset: 0 })
    for await (const piece of reader?.pieces ?? []) {
      expect(piece.length).toBeGreaterThan(0)
      break
    }
    expect((await bytesOf(store, digest))?.equals(big)).toBe(true)
  })
}

function compressed(makeStore: Make): void {
  const sizes: [string, Buffer][] = [
    ['small', text.subarray(0, 3000)],
    ['medium', text],
    [
      'big',
      Buffer.concat(
        Array.from({ length: 6 }, (_, i) => Buffer.concat([random.bytes(1_000_000), Buffer.alloc(1e6, i)])),
      ),
    ],
  ]

  test.each(sizes)(
    'a %s blob is sent unchanged to readers that accept zstd, and decompressed to others',
    async (_, bytes) => {
      const store = await makeStore()
      const digest = digestOf(bytes)
      const zstd = zstdCompressSync(bytes)
      await upload(store, { digest, bytes: zstd, form: 'zstd' })
      expect(await holds(store, digest)).toBe(true)
      const as = await streamOf(store, digest, { offset: 0, acceptZstd: true })
      expect(as?.form).toBe('zstd')
      expect(as?.bytes.equals(zstd)).toBe(true)
      const plain = await streamOf(store, digest)
      expect(plain?.form).toBe('identity')
      expect(plain?.bytes.equals(bytes)).toBe(true)
      expect((await manyOf(store, [digest]))[0]?.equals(bytes)).toBe(true)
    },
  )

  test.each(sizes)('a range of a %s blob is returned decompressed', async (_, bytes) => {
    const store = await makeStore()
    const digest = digestOf(bytes)
    await upload(store, { digest, bytes: zstdCompressSync(bytes), form: 'zstd' })
    for (const [offset, limit] of [
      [1, 10],
      [bytes.length - 5, 100],
      [Math.floor(bytes.length / 2), 1000],
    ] as const) {
      const part = await streamOf(store, digest, { offset, limit, acceptZstd: true })
      expect(part?.form).toBe('identity')
      expect(part?.bytes.equals(bytes.subarray(offset, offset + limit))).toBe(true)
    }
  })

  test('a blob may consist of several zstd frames', async () => {
    const store = await makeStore()
    const bytes = Buffer.concat([text, medium])
    const digest = digestOf(bytes)
    const zstd = Buffer.concat([zstdCompressSync(text), zstdCompressSync(medium)])
    await upload(store, { digest, bytes: zstd, form: 'zstd' })
    expect((await bytesOf(store, digest))?.equals(bytes)).toBe(true)
    expect((await manyOf(store, [digest]))[0]?.equals(bytes)).toBe(true)
  })

  test('apart from plain blobs, which stay as they are', async () => {
    const store = await makeStore()
    const digest = await putOne(store, text)
    expect((await streamOf(store, digest, { offset: 0, acceptZstd: true }))?.form).toBe('identity')
  })
}
