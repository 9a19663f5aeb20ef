import { zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepareHashing } from '../../base/hashing/create-hasher.ts'
import { digestOf as digestBy } from '../../base/hashing/hash-of.ts'
import { randomFrom } from '../../testing/random-source.ts'
import { bytesOf, digestOf, holds, listOf, put, upload } from '../blobs.fixture.ts'
import { threadPool } from '../bulk/thread-pool.ts'
import { blobStoreContract } from '../contract.ts'
import { memoryStore } from '../memory-store.ts'
import { verifying } from './verifying.ts'

const bulk = threadPool(2)
beforeAll(() => prepareHashing())
afterAll(() => bulk.close())
const random = randomFrom(8)
const store = () => verifying(bulk)(memoryStore())
const WRONG = { fault: { kind: 'invalid' } }

blobStoreContract('verifying, before memory', () => {
  const inner = memoryStore()
  const outer = verifying(bulk)(inner)
  // The contract uses made-up digests where only names matter: those bypass the verification.
  const isMadeUp = (hash: Uint8Array) => hash.every((byte) => byte === 0xab)
  return { ...outer, writeMany: (list, blobs) => (isMadeUp(list.hashes) ? inner : outer).writeMany(list, blobs) }
})

describe.each([
  ['small', 1000],
  ['of 64 KiB', 65_536],
  ['large', 700_000],
  ['larger still', 2_500_000],
])('verifying, blob that is %s', (_, size) => {
  const right = random.bytes(size)
  const wrong = Buffer.from(right)
  wrong[size >> 1] = (wrong[size >> 1] as number) ^ 1
  const digest = digestOf(right)

  test('is refused as invalid when its bytes differ, and is not stored', async () => {
    const verified = store()
    await expect(upload(verified, { digest, bytes: wrong })).rejects.toMatchObject(WRONG)
    await expect(verified.writeMany(listOf([digest]), [wrong])).rejects.toMatchObject(WRONG)
    await expect(upload(verified, { digest, bytes: zstdCompressSync(wrong), form: 'zstd' })).rejects.toMatchObject(
      WRONG,
    )
    expect(await holds(verified, digest)).toBe(false)
    await upload(verified, { digest, bytes: right })
    expect(await bytesOf(verified, digest)).toEqual(right)
  })

  test('is refused as invalid when it is shorter or longer than its digest', async () => {
    const verified = store()
    for (const bytes of [right.subarray(0, size - 1), Buffer.concat([right, Buffer.alloc(1)]), Buffer.alloc(0)]) {
      await expect(upload(verified, { digest, bytes })).rejects.toMatchObject(WRONG)
      await expect(verified.writeMany(listOf([digest]), [bytes])).rejects.toMatchObject(WRONG)
      await expect(upload(verified, { digest, bytes: zstdCompressSync(bytes), form: 'zstd' })).rejects.toMatchObject(
        WRONG,
      )
    }
    expect(await holds(verified, digest)).toBe(false)
  })

  test('is refused as invalid when its zstd is malformed, truncated or followed by other bytes', async () => {
    const verified = store()
    const zstd = zstdCompressSync(right)
    for (const bytes of [right, zstd.subarray(0, zstd.length - 3), Buffer.concat([zstd, Buffer.from('x')])]) {
      await expect(upload(verified, { digest, bytes, form: 'zstd' })).rejects.toMatchObject(WRONG)
    }
    expect(await holds(verified, digest)).toBe(false)
  })
})

test('zstd that expands far beyond its declared size is refused with under 100 MB of memory', async () => {
  const bomb = zstdCompressSync(Buffer.alloc(200_000_000))
  for (const size of [1000, 100_000]) {
    const digest = { ...digestOf(Buffer.alloc(size)), size }
    const start = process.memoryUsage().rss
    await expect(upload(store(), { digest, bytes: bomb, form: 'zstd' })).rejects.toMatchObject(WRONG)
    expect(process.memoryUsage().rss - start).toBeLessThan(100_000_000)
  }
})

test.each(['sha256', 'sha1', 'md5', 'sha384', 'sha512', 'sha256tree', 'blake3'] as const)(
  'blobs under %s are verified with that function',
  async (fn) => {
    const verified = store()
    for (const size of [100, 300_000]) {
      const bytes = random.bytes(size)
      const digest = digestBy(fn, bytes)
      await verified.writeMany(listOf([digest]), [bytes])
      await upload(verified, { digest, bytes })
      await upload(verified, { digest, bytes: zstdCompressSync(bytes), form: 'zstd' })
      bytes[0] = (bytes[0] as number) ^ 1
      await expect(upload(store(), { digest, bytes })).rejects.toMatchObject(WRONG)
    }
  },
)

test('an upload longer than its digest is refused before it ends', async () => {
  for (const size of [1000, 100_000]) {
    for (const form of ['identity', 'zstd'] as const) {
      const writer = store().write(digestOf(Buffer.alloc(size)), form)
      const endless = async () => {
        for (let sent = 0; sent < 10_000_000; sent += 50_000) await writer.write(Buffer.alloc(50_000))
      }
      await expect(endless()).rejects.toMatchObject(WRONG)
    }
  }
})

test('an aborted upload frees its bulk thread for the next upload', async () => {
  const verified = store()
  const bytes = random.bytes(900_000)
  for (let i = 0; i < 20; i++) {
    const writer = verified.write(digestOf(bytes), i % 2 === 0 ? 'identity' : 'zstd')
    await writer.write(bytes.subarray(0, 500_000))
    writer.abort()
  }
  await put(verified, bytes)
  expect(await bytesOf(verified, digestOf(bytes))).toEqual(bytes)
})
