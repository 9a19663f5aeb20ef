import { expect, test } from 'vitest'
import { bytesText, countText, parseBytes, parseSeconds, pathText, secondsText } from './text.ts'

test.each([
  ['0', 0],
  ['4096', 4096],
  ['10GB', 10_000_000_000],
  ['10 GB', 10_000_000_000],
  ['1.5GiB', 1_610_612_736],
  ['250kB', 250_000],
  ['0.1MB', 100_000],
])('%s is %i bytes', (text, bytes) => {
  expect(parseBytes('--to', text)).toBe(bytes)
})

test.each(['', 'GB', '-1GB', '1e9', '0x10', '10gb', '10G', '1,5GB', '10GB ', '9999999TB', '10 constructor', '１GB'])(
  '%j is no size',
  (text) => {
    expect(() => parseBytes('--to', text)).toThrow(/^--to: ".*" is no size: write a number and B, kB/)
  },
)

test.each([
  ['90s', 90],
  ['15m', 900],
  ['12h', 43_200],
  ['7d', 604_800],
  ['2w', 1_209_600],
  ['1.5h', 5400],
])('%s is %i seconds', (text, seconds) => {
  expect(parseSeconds('--older-than', text)).toBe(seconds)
})

test.each(['7', '7 days', 'd', '-7d', '7D', '1d12h', 'toString'])('%j is no time', (text) => {
  expect(() => parseSeconds('--older-than', text)).toThrow(/^--older-than: ".*" is no time: write a number and s, m/)
})

test('sizes, times and counts are written in short form', () => {
  expect([0, 999, 1000, 12_345, 999_950, 1_500_000_000].map(bytesText)).toEqual([
    ...['0 B', '999 B', '1.00 kB', '12.3 kB', '1.00 MB', '1.50 GB'],
  ])
  expect([0, 119, 120, 7200, 172_800].map(secondsText)).toEqual(['0 s', '119 s', '2 m', '2 h', '2 d'])
  expect([0, 999, 1000, 1_234_567].map(countText)).toEqual(['0', '999', '1,000', '1,234,567'])
})

test('a path with a line break is written as JSON', () => {
  expect(pathText('a b/ü')).toBe('a b/ü')
  expect(pathText('a\nb')).toBe('"a\\nb"')
})
