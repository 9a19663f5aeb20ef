import { BinaryWriter } from '@bufbuild/protobuf/wire'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fieldLength, putField, putVarint, varintLength } from './message-writer.ts'

test('putVarint writes the same bytes as another encoder, and varintLength returns their number', () => {
  const value = fc.oneof(fc.nat(300), fc.maxSafeNat(), fc.integer({ min: -1000, max: -1 }))
  fc.assert(
    fc.property(value, (number) => {
      const expected = new BinaryWriter().int64(number).finish()
      const out = new Uint8Array(varintLength(number))
      expect(putVarint(out, 0, number)).toBe(expected.length)
      expect(out).toEqual(expected)
    }),
  )
})

test('putField writes the same bytes as another encoder, and fieldLength returns their number', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const out = new Uint8Array(fieldLength(bytes.length))
      expect(putField(out, 0, 0x12, bytes)).toBe(out.length)
      expect(out).toEqual(new BinaryWriter().uint32(0x12).bytes(bytes).finish())
    }),
  )
})
