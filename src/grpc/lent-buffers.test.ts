import { describe, expect, test } from 'vitest'
import { lend, takeBack } from './lent-buffers.ts'

const MiB = 1 << 20

describe('a lent buffer', () => {
  test.each([0, 1, 16_384, 16_385, 65_536, 65_537, 1_000_000, 4 * MiB, 4 * MiB + 1])(
    'has at least %i bytes, and at most twice as many or 16 KiB',
    (bytes) => {
      const buffer = lend(bytes)
      expect(buffer.length).toBeGreaterThanOrEqual(bytes)
      expect(buffer.length).toBeLessThanOrEqual(Math.max(16_384, bytes * 2))
    },
  )

  test('is reused after takeBack for a request of about the same size', () => {
    const buffer = lend(100_000)
    takeBack(buffer)
    expect(lend(200_000)).not.toBe(buffer)
    expect(lend(90_000)).toBe(buffer)
    expect(lend(90_000)).not.toBe(buffer)
  })

  test('is not kept when it is too large or was not lent by the pool', () => {
    for (const bytes of [16 * MiB, 100_000, 10]) {
      const buffer = Buffer.alloc(bytes)
      takeBack(buffer)
      expect(lend(bytes)).not.toBe(buffer)
    }
  })

  test('is not kept when the pool has 32 of its size', () => {
    const all = Array.from({ length: 40 }, () => lend(MiB))
    for (const buffer of all) takeBack(buffer)
    const again = new Set(Array.from({ length: 40 }, () => lend(MiB)))
    const kept = all.filter((buffer) => again.has(buffer)).length
    expect(kept).toBeGreaterThan(0)
    expect(kept).toBeLessThanOrEqual(32)
  })
})
