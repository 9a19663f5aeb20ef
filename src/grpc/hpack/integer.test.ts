import { expect, test } from 'vitest'
import { HpackError } from './hpack-error.ts'
import { Cursor, writeInteger } from './integer.ts'

const read = (mask: number, ...bytes: readonly number[]): { value: number; at: number } => {
  const cursor = new Cursor()
  cursor.open(Uint8Array.from(bytes), 0, bytes.length)
  return { value: cursor.integer(mask), at: cursor.at }
}

const write = (value: number, mask: number, pattern = 0): number[] => {
  const target = new Uint8Array(8)
  return [...target.subarray(0, writeInteger(value, { pattern, mask }, target, 0))]
}

test.each([
  ['C.1.1: 10 behind a prefix of five bits', 10, 0x1f, [0b01010]],
  ['C.1.2: 1337 behind a prefix of five bits', 1337, 0x1f, [0b11111, 0b10011010, 0b00001010]],
  ['C.1.3: 42 in a byte of its own', 42, 0xff, [42]],
])('RFC 7541, %s', (_, value, mask, bytes) => {
  expect(write(value, mask)).toEqual(bytes)
  expect(read(mask, ...bytes)).toEqual({ value, at: bytes.length })
})

test('writing keeps the bits before the prefix, and reading ignores them', () => {
  expect(write(5, 0x0f, 0x10)).toEqual([0x15])
  expect(write(15, 0x0f, 0x10)).toEqual([0x1f, 0])
  expect(read(0x0f, 0x15).value).toBe(5)
  expect(read(0x0f, 0xff, 0).value).toBe(15)
})

test('integers around each change of encoded length round-trip with prefixes of 4 to 8 bits', () => {
  for (const mask of [0x0f, 0x1f, 0x3f, 0x7f, 0xff]) {
    for (const base of [0, mask, mask + 2 ** 7, mask + 2 ** 14, mask + 2 ** 21, 2 ** 28]) {
      for (const value of [base - 1, base, base + 1]) {
        if (value >= 0 && value <= 2 ** 28) expect(read(mask, ...write(value, mask)).value).toBe(value)
      }
    }
  }
})

test('superfluous zero continuation bytes are accepted up to five bytes in total', () => {
  expect(read(0x1f, 0x1f, 0x80, 0x80, 0x80, 0x00)).toEqual({ value: 31, at: 5 })
})

test.each([
  ['nothing at all', []],
  ['a prefix that goes on, but does not', [0x1f]],
  ['a continuation that is cut off', [0x1f, 0x80, 0xff]],
  ['six bytes', [0x1f, 0x80, 0x80, 0x80, 0x80, 0x00]],
  ['more than 2^28', [0x1f, 0xff, 0xff, 0xff, 0x7f]],
])('reading throws HpackError: %s', (_, bytes) => {
  expect(() => read(0x1f, ...bytes)).toThrow(HpackError)
})

test('a string may end exactly at the end of its block, and one byte more throws HpackError', () => {
  const cursor = new Cursor()
  cursor.open(Uint8Array.of(2, 97, 98, 99), 0, 3)
  expect(cursor.skipString()).toBe(1)
  expect(cursor.at).toBe(3)
  cursor.open(Uint8Array.of(3, 97, 98, 99), 0, 3)
  expect(() => cursor.skipString()).toThrow(HpackError)
})
