import { expect, test } from 'vitest'
import { HashSlots } from './slots.ts'

/** Records whose key is one word, with hashes of the test's choice. */
function slotsOf(hashes: readonly number[], expected = 0) {
  const slots = new HashSlots(
    {
      warmth: 0,
      hash: (record) => hashes[record] as number,
      holds: (record, keys, from) => keys[from] === record,
      isNamed: (record, key) => key[0] === record % 100,
      warm: () => undefined,
    },
    expected,
  )
  const find = (record: number) => slots.find(Uint32Array.of(record), 0, hashes[record] as number)
  return { slots, find, add: (record: number) => slots.add(record, hashes[record] as number) }
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

test('entries that crowd one corner of the hash values are spread until they fit', () => {
  const hashes = upTo(20_000).map((i) => 0x12340000 + i * 7)
  const { add, find } = slotsOf(hashes)
  for (let record = 1; record < hashes.length; record++) add(record)
  for (let record = 1; record < hashes.length; record++) expect(find(record)).toBe(record)
})

test('the first and the last hash value have places like any other', () => {
  const { add, find } = slotsOf([0, 0, 0xffffffff, 0x80000000, 0x7fffffff])
  for (const record of [1, 2, 3, 4]) add(record)
  expect([1, 2, 3, 4].map(find)).toEqual([1, 2, 3, 4])
})

test('entries of one and the same hash are told apart by their keys, and each can be removed', () => {
  const hashes = upTo(301).map(() => 77)
  const { slots, add, find } = slotsOf(hashes)
  for (let record = 1; record <= 300; record++) add(record)
  for (let record = 1; record <= 300; record += 2) slots.remove(record, 77)
  for (let record = 1; record <= 300; record++) expect(find(record)).toBe(record % 2 === 0 ? record : -1)
})

test('a page may be full to the last slot, and still answers for what it does not hold', () => {
  const hashes = upTo(514).map(() => 77)
  const { slots, add, find } = slotsOf(hashes)
  for (let record = 1; record <= 512; record++) add(record)
  expect(find(513)).toBe(-1)
  slots.remove(100, 77)
  expect([99, 100, 101, 512].map(find)).toEqual([99, -1, 101, 512])
})

test('more entries of one hash than a page has slots are refused, not looked for forever', () => {
  const { add } = slotsOf(upTo(514).map(() => 77))
  for (let record = 1; record <= 512; record++) add(record)
  expect(() => add(513)).toThrow('hash too much alike')
})

test('removing what is not there is a mistake that is told', () => {
  const { slots } = slotsOf([0, 5])
  expect(() => slots.remove(1, 5)).toThrow('record 1 is in no slot')
})

test('room made beforehand takes what was expected without growing much', () => {
  for (const expected of [1, 10_000, 300_000]) {
    const hashes = upTo(expected + 1).map((i) => Math.imul(i, 0x9e3779b1) >>> 0)
    const { slots, add, find } = slotsOf(hashes, expected)
    const before = slots.bytes
    for (let record = 1; record <= expected; record++) add(record)
    expect(slots.bytes - before).toBeLessThan(before / 10)
    for (let record = 1; record <= expected; record += 997) expect(find(record)).toBe(record)
  }
})

test('entries that share a name are counted off, and those of other names stepped over', () => {
  const hashes = upTo(500).map((i) => 0x12340000 + (i % 100) * 7)
  const { slots, add } = slotsOf(hashes)
  for (let record = 1; record < 500; record++) add(record)
  const named = (nth: number) => slots.findNamed(Uint32Array.of(42), hashes[42] as number, nth)
  expect(upTo(6).map(named)).toEqual([42, 142, 242, 342, 442, -1])
})
