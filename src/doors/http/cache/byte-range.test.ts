import { expect, test } from 'vitest'
import { byteRangeIn } from './request.ts'

test.each([
  ['bytes=0-0', { first: 0, last: 0 }],
  ['bytes=0-99', { first: 0, last: 99 }],
  ['bytes=10-', { first: 10, last: 99 }],
  ['bytes=10-1000', { first: 10, last: 99 }],
  ['bytes=-1', { first: 99, last: 99 }],
  ['bytes=-1000', { first: 0, last: 99 }],
  ['Bytes=5-6', { first: 5, last: 6 }],
])('%s selects its bytes of 100', (header, range) => {
  expect(byteRangeIn(header, 100)).toEqual(range)
})

test.each(['bytes=100-', 'bytes=100-200', 'bytes=-0', 'bytes=999999999999999-'])('%s is beyond 100 bytes', (header) => {
  expect(byteRangeIn(header, 100)).toBe('beyond')
})

test.each([
  undefined,
  '',
  'bytes=',
  'bytes=-',
  'bytes=9-5',
  'bytes=1-2,4-5',
  'bytes=a-b',
  'bytes=1-2-3',
  'lines=1-2',
  'bytes=+1-2',
  `bytes=${'9'.repeat(30)}-`,
])('%s is ignored, and the whole blob is sent', (header) => {
  expect(byteRangeIn(header, 100)).toBeUndefined()
})

test('every range of an empty blob is beyond it', () => {
  for (const header of ['bytes=0-', 'bytes=-5', 'bytes=0-0']) expect(byteRangeIn(header, 0)).toBe('beyond')
})
