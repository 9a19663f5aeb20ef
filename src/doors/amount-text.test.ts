import { describe, expect, test } from 'vitest'
import { cpusIn, durationIn, durationText, sizeIn } from './amount-text.ts'

describe('durations', () => {
  test.each([
    ['30s', 30_000],
    ['500ms', 500],
    ['1.5s', 1500],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['0.0001s', 1],
    ['0s', 0],
  ])('%s is %i ms', (text, ms) => {
    expect(durationIn(text)).toBe(ms)
  })

  test.each([
    '',
    '30',
    's',
    '-1s',
    '+1s',
    '1 s',
    ' 1s',
    '1s ',
    '1S',
    '1sec',
    '1e3s',
    '.5s',
    '1.s',
    '1s2m',
    '１s',
    '1s\n',
    '9999999999s',
  ])('%j is no duration', (text) => {
    expect(durationIn(text)).toBeUndefined()
  })

  test.each([
    [1200, '1.2s'],
    [2000, '2s'],
    [12, '0.012s'],
    [0, '0s'],
    [-5, '0s'],
  ])('%i ms is written as %s', (ms, word) => {
    expect(durationText(ms)).toBe(word)
  })
})

test.each([
  ['256MB', 256_000_000],
  ['64MiB', 64 * 1024 ** 2],
  ['1.5GB', 1_500_000_000],
  ['10B', 10],
])('%s is %i bytes', (text, bytes) => {
  expect(sizeIn(text)).toBe(bytes)
})

test.each(['', '256', '256M', '256mb', '256 MB', '-1MB', '1MB\n', '0x10MB', 'MB'])('%j is no size', (text) => {
  expect(sizeIn(text)).toBeUndefined()
})

test('CPU counts are plain decimal numbers', () => {
  expect(['1.0', '0.5', '12', '1,5', '1.', '', 'one', '1e2'].map(cpusIn)).toEqual([
    1,
    0.5,
    12,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})
