import { createHash } from 'node:crypto'
import { zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomFrom } from '../../testing/random-source.ts'
import type { BulkPool } from './bulk-pool.ts'
import { threadPool } from './thread-pool.ts'

const random = randomFrom(64)
const hex = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('hex')
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
let pool: BulkPool

beforeAll(() => {
  pool = threadPool(1)
})
afterAll(() => pool.close())

async function inspected(bytes: Uint8Array, pieceBytes = 100_000): Promise<string | undefined> {
  const inspection = pool.inspect('sha256', 'identity', bytes.length)
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    // After `update` the caller may reuse the piece.
    const piece = Buffer.from(bytes.subarray(at, at + pieceBytes))
    await inspection.update(piece)
    piece.fill(0)
  }
  return hex((await inspection.finish())?.hash)
}

describe('a bulk thread', () => {
  test.each([0, 1, 65_536, 262_144, 262_145, 3_000_000])('hashes %i bytes that arrive in pieces', async (size) => {
    const bytes = random.bytes(size)
    expect(await inspected(bytes)).toBe(sha256(bytes))
  })

  test('hashes 300 blobs at once with under 64 MiB of additional buffers', async () => {
    const blobs = Array.from({ length: 300 }, () => random.bytes(400_000))
    const before = process.memoryUsage().arrayBuffers
    const hashes = Promise.all(blobs.map((bytes) => inspected(bytes, 50_000)))
    expect(await hashes).toEqual(blobs.map(sha256))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024)
  })

  test('serves other uploads while 300 uploads are paused halfway', async () => {
    const bytes = random.bytes(100_000)
    const slow = Array.from({ length: 300 }, () => pool.inspect('sha256', 'identity', 200_000))
    for (const inspection of slow) await inspection.update(bytes)
    const other = random.bytes(2_000_000)
    expect(await inspected(other)).toBe(sha256(other))
    for (const inspection of slow.slice(0, 150)) inspection.cancel()
    for (const inspection of slow.slice(150)) await inspection.update(bytes)
    const whole = sha256(Buffer.concat([bytes, bytes]))
    for (const inspection of slow.slice(150)) expect(hex((await inspection.finish())?.hash)).toBe(whole)
  })

  test('reports the hash and size of decompressed zstd, and rejects data longer than the declared size', async () => {
    const bytes = Buffer.alloc(1_000_000, 'zstd ')
    const right = pool.inspect('sha256', 'zstd', bytes.length)
    await right.update(zstdCompressSync(bytes))
    expect(hex((await right.finish())?.hash)).toBe(sha256(bytes))
    const short = pool.inspect('sha256', 'zstd', bytes.length + 1)
    await short.update(zstdCompressSync(bytes))
    expect((await short.finish())?.size).toBe(bytes.length)
    const long = pool.inspect('sha256', 'zstd', bytes.length - 1)
    await long.update(zstdCompressSync(bytes))
    expect(await long.finish()).toBeUndefined()
  })

  test('accepts the zstd of 256 MiB of zeros', async () => {
    const image = zstdCompressSync(Buffer.alloc(256 * 1024 * 1024))
    const inspection = pool.inspect('sha256', 'zstd', 2 ** 28)
    await inspection.update(image)
    expect((await inspection.finish())?.size).toBe(2 ** 28)
  })

  test('rejects 256 KiB of zstd that expand to 8 GiB, with under 4 s of CPU time', async () => {
    const part = 64 * 1024 * 1024
    const frame = zstdCompressSync(Buffer.alloc(part))
    const frames = Math.ceil(2 ** 33 / part)
    const bomb = pool.inspect('sha256', 'zstd', 2 ** 33)
    const started = process.cpuUsage()
    for (let at = 0; at < frames; at++) await bomb.update(frame)
    expect(await bomb.finish()).toBeUndefined()
    const { user, system } = process.cpuUsage(started)
    expect((user + system) / 1e6).toBeLessThan(4) // CPU seconds, not wall time
  })
})
