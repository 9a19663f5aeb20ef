import { expect, test } from 'vitest'
import { HashSlots } from './slots.ts'

/** Records with a one-word key and hashes chosen by the test. */
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

test('20,000 entries with nearby hashes are spread over slots, and each is found', () => {
  const hashes = upTo(20_000).map((i) => 0x12340000 + i * 7)
  const { add, find } = slotsOf(hashes)
  for (let record = 1; record < hashes.length; record++) add(record)
  for (let record = 1; record < hashes.length; record++) expect(find(record)).toBe(record)
})

test('the lowest and highest hash values have slots', () => {
  const { add, find } = slotsOf([0, 0, 0xffffffff, 0x80000000, 0x7fffffff])
  for (const record of [1, 2, 3, 4]) add(record)
  expect([1, 2, 3, 4].map(find)).toEqual([1, 2, 3, 4])
})

test('300 entries with the same hash are distinguished by key, and each can be removed', () => {
  const hashes = upTo(301).map(() => 77)
  const { slots, add, find } = slotsOf(hashes)
  for (let record = 1; record <= 300; record++) add(record)
  for (let record = 1; record <= 300; record += 2) slots.remove(record, 77)
  for (let record = 1; record <= 300; record++) expect(find(record)).toBe(record % 2 === 0 ? record : -1)
})

test('a page with all 512 slots full still reports an absent key', () => {
  const hashes = upTo(514).map(() => 77)
  const { slots, add, find } = slotsOf(hashes)
  for (let record = 1; record <= 512; record++) add(record)
  expect(find(513)).toBe(-1)
  slots.remove(100, 77)
  expect([99, 100, 101, 512].map(find)).toEqual([99, -1, 101, 512])
})

test('the 513th entry with the same hash is refused', () => {
  const { add } = slotsOf(upTo(514).map(() => 77))
  for (let record = 1; record <= 512; record++) add(record)
  expect(() => add(513)).toThrow('hash too much alike')
})

test('removing an absent record throws', () => {
  const { slots } = slotsOf([0, 5])
  expect(() => slots.remove(1, 5)).toThrow('record 1 is in no slot')
})

test('preallocated slots grow by less than 10% for the expected number of entries', () => {
  for (const expected of [1, 10_000, 300_000]) {
    const hashes = upTo(expected + 1).map((i) => Math.imul(i, 0x9e3779b1) >>> 0)
    const { slots, add, find } = slotsOf(hashes, expected)
    const before = slots.bytes
    for (let record = 1; record <= expected; record++) add(record)
    expect(slots.bytes - before).toBeLessThan(before / 10)
    for (let record = 1; record <= expected; record += 997) expect(find(record)).toBe(record)
  }
})

test('findNamed returns the nth entry of a name and skips other names', () => {
  const hashes = upTo(500).map((i) => 0x12340000 + (i % 100) * 7)
  const { slots, add } = slotsOf(hashes)
  for (let record = 1; record < 500; record++) add(record)
  const named = (nth: number) => slots.findNamed(Uint32Array.of(42), hashes[42] as number, nth)
  expect(upTo(6).map(named)).toEqual([42, 142, 242, 342, 442, -1])
})
