import { BinaryWriter } from '@bufbuild/protobuf/wire'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FaultError } from '../../base/fault.ts'
import { MessageReader } from './message-reader.ts'

const reading = (hex: string) => new MessageReader(Buffer.from(hex.replaceAll(' ', ''), 'hex'), 'Test')

const skipAll = (reader: MessageReader): void => {
  while (reader.next()) reader.skip()
}

describe('MessageReader, fields', () => {
  test('of every wire type can be skipped', () => {
    const reader = reading('08 96 01  11 0102030405060708  1a 02 6869  25 01020304  f8 ff ff ff 0f 01')
    const seen: [number, number][] = []
    while (reader.next()) {
      seen.push([reader.field, reader.type])
      reader.skip()
    }
    expect(seen).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 5],
      [536_870_911, 0],
    ])
  })

  test.each([
    ['00', 'a field number is 0 or too large'],
    ['07', 'a field number is 0 or too large'],
    ['80 80 80 80 80 01', 'a field number is 0 or too large'],
    ['80', 'a number is cut off'],
    ['08', 'a number is cut off'],
    ['08 ff', 'a number is cut off'],
    ['08 ffffffffffffffffff02', 'a number is longer than 64 bits'],
    ['08 ffffffffffffffffffff01', 'a number is longer than 64 bits'],
    ['0a', 'a number is cut off'],
    ['0a 05 00', 'a field runs past the end'],
    ['0a ffffffffffffffffff01', 'a field runs past the end'],
    ['09 00000000000000', 'a field runs past the end'],
    ['0d 000000', 'a field runs past the end'],
    ['0b 0c', 'groups are not supported'],
    ['0c', 'groups are not supported'],
    ['0e', 'a field has an unknown wire type'],
    ['0f', 'a field has an unknown wire type'],
  ])('of the malformed bytes %s are refused', (hex, what) => {
    const act = () => skipAll(reading(hex))
    expect(act).toThrow(FaultError)
    expect(act).toThrow(`malformed Test: ${what}`)
  })

  test('of a nested message end with it, and the outer message continues', () => {
    const reader = reading('0a 02 08 01 10 02')
    reader.next()
    const outer = reader.enter()
    expect(reader.next()).toBe(true)
    expect(reader.int32()).toBe(1)
    expect(reader.next()).toBe(false)
    reader.leave(outer)
    expect(reader.next()).toBe(true)
    expect([reader.field, reader.int32(), reader.next()]).toEqual([2, 2, false])
  })

  test('of a nested message cannot extend beyond it', () => {
    const reader = reading('0a 02 0a 02 68 69')
    reader.next()
    reader.enter()
    reader.next()
    expect(() => reader.view()).toThrow('a field runs past the end')
  })

  test('of an unexpected wire type are refused', () => {
    const wrong = (hex: string, read: (reader: MessageReader) => unknown) => {
      const reader = reading(hex)
      reader.next()
      expect(() => read(reader)).toThrow('malformed Test: field 1 has the wrong type')
    }
    wrong('08 01', (reader) => reader.text())
    wrong('08 01', (reader) => reader.view())
    wrong('08 01', (reader) => reader.enter())
    wrong('0a 00', (reader) => reader.int32())
    wrong('0a 00', (reader) => reader.bool())
    wrong('0d 00000000', (reader) => reader.count('it'))
    wrong('0d 00000000', (reader) => reader.int32s())
  })
})

describe('MessageReader, numbers', () => {
  const first = <T>(bytes: Uint8Array, read: (reader: MessageReader) => T): T => {
    const reader = new MessageReader(bytes, 'Test')
    reader.next()
    const value = read(reader)
    expect(reader.next()).toBe(false)
    return value
  }

  test('int32 reads the numbers that another encoder writes', () => {
    fc.assert(
      fc.property(fc.integer(), (value) => {
        expect(first(new BinaryWriter().uint32(8).int32(value).finish(), (reader) => reader.int32())).toBe(value)
      }),
    )
  })

  test('int32 truncates a 64-bit value to its lower 32 bits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const bytes = new BinaryWriter().uint32(8).int64(value).finish()
        expect(first(bytes, (reader) => reader.int32())).toBe(Number(BigInt.asIntN(32, value)))
        expect(first(bytes, (reader) => reader.bool())).toBe(value !== 0n)
      }),
    )
  })

  test('int64 reads exact values between -2^53 and 2^53, and refuses others', () => {
    const int64 = (value: bigint) =>
      first(new BinaryWriter().uint32(8).int64(value).finish(), (reader) => reader.int64())
    fc.assert(fc.property(fc.maxSafeInteger(), (value) => int64(BigInt(value)) === value))
    expect(() => int64(2n ** 53n)).toThrow('a number is beyond 2^53')
    expect(() => int64(-(2n ** 63n))).toThrow('a number is beyond 2^53')
  })

  test('count reads exact values up to 2^53 - 1, and refuses negative and larger ones', () => {
    const count = (value: bigint) =>
      first(new BinaryWriter().uint32(8).int64(value).finish(), (reader) => reader.count('the size'))
    fc.assert(fc.property(fc.maxSafeNat(), (value) => count(BigInt(value)) === value))
    expect(() => count(-1n)).toThrow('the size is negative')
    expect(() => count(-(2n ** 63n))).toThrow('the size is negative')
    expect(() => count(2n ** 53n)).toThrow('the size is too large')
    expect(() => count(2n ** 63n - 1n)).toThrow('the size is too large')
  })

  test('may be encoded with more bytes than necessary', () => {
    expect(first(Buffer.from('0883808080808080808000', 'hex'), (reader) => reader.count('it'))).toBe(3)
  })

  test('repeated int32 may be packed or unpacked', () => {
    expect(first(Buffer.from('0805', 'hex'), (reader) => reader.int32s())).toEqual([5])
    expect(first(Buffer.from('0a0301ac02', 'hex'), (reader) => reader.int32s())).toEqual([1, 300])
    expect(() => first(Buffer.from('0a0201ac', 'hex'), (reader) => reader.int32s())).toThrow('a number is cut off')
  })
})

describe('MessageReader, text', () => {
  const text = (bytes: Uint8Array): string => {
    const reader = new MessageReader(new BinaryWriter().uint32(10).bytes(bytes).finish(), 'Test')
    reader.next()
    reader.skipText()
    reader.at = 0
    reader.next()
    return reader.text()
  }

  test('round-trips, short or long, ASCII or not', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (value) => {
        expect(text(Buffer.from(value))).toBe(Buffer.from(value).toString())
      }),
    )
    expect(text(Buffer.from('\ufeffx'))).toBe('\ufeffx')
  })

  test.each(['ff', 'c3', 'c0af', 'eda080', 'f4908080'])('that is not UTF-8 (%s) is refused', (hex) => {
    expect(() => text(Buffer.from(hex, 'hex'))).toThrow('malformed Test: text is not UTF-8')
  })

  test('of an instance name with a reserved segment is refused', () => {
    const reader = new MessageReader(new BinaryWriter().uint32(10).string('a/blobs').finish(), 'Test')
    reader.next()
    expect(() => reader.instance()).toThrow('the instance name has the reserved segment "blobs"')
  })
})

test('a view shares memory with the message', () => {
  const bytes = Buffer.from('0a026869', 'hex')
  const reader = new MessageReader(bytes, 'Test')
  reader.next()
  expect(reader.view().buffer).toBe(bytes.buffer)
})
