import { describe, expect, test } from 'vitest'
import { formatTimeout, parseTimeout } from './timeout.ts'

describe('parseTimeout', () => {
  test.each([
    ['1H', 3_600_000],
    ['2M', 120_000],
    ['3S', 3000],
    ['4m', 4],
    ['5000u', 5],
    ['6000000n', 6],
    ['1n', 1e-6],
    ['0S', 0],
    ['00000007S', 7000],
    ['99999999H', 99_999_999 * 3_600_000],
  ])('reads %s', (text, ms) => {
    expect(parseTimeout(text)).toBeCloseTo(ms, 9)
  })

  test.each([
    '',
    'S',
    '1',
    '123456789S',
    '1s',
    '1h',
    '-1S',
    '+1S',
    '1.5S',
    ' 1S',
    '1S ',
    '1 S',
    '0x1S',
    '1SS',
    '١S',
    '1toString',
    'NaN',
  ])('returns undefined for the malformed value %j', (text) => {
    expect(parseTimeout(text)).toBeUndefined()
  })
})

describe('formatTimeout', () => {
  test.each([
    [1, '1m'],
    [0.2, '1m'],
    [1500.5, '1501m'],
    [99_999_999, '99999999m'],
    [100_000_000, '100000S'],
    [99_999_999_000, '99999999S'],
    [360_000_000_000, '100000H'],
    [Number.MAX_SAFE_INTEGER, '99999999H'],
    [Number.POSITIVE_INFINITY, '99999999H'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatTimeout(ms)).toBe(text)
  })

  test('writes 0 and negative times as 1m, the shortest timeout', () => {
    expect(formatTimeout(0)).toBe('1m')
    expect(formatTimeout(-50)).toBe('1m')
  })

  test('writes a timeout that parseTimeout reads back, never shorter than given', () => {
    for (let ms = 1; ms < 1e15; ms *= 3.7) {
      const read = parseTimeout(formatTimeout(ms)) as number
      if (ms < 99_999_999 * 3_600_000) expect(read).toBeGreaterThanOrEqual(ms)
      expect(read).toBeLessThanOrEqual(ms + 3_600_000)
    }
  })
})
