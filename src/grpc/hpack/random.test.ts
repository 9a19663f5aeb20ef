/** Properties of all inputs. A failure prints its seed; WINDLASS_SEED repeats that run. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { kindOfField, kindOfName } from './classify.ts'
import { HpackDecoder } from './decoder.ts'
import { DynamicTable } from './dynamic-table.ts'
import { encodedBound, HpackEncoder, type OutgoingField } from './encoder.ts'
import { HpackError } from './hpack-error.ts'
import { decodeHuffman, encodeHuffman, huffmanLength } from './huffman.ts'
import { type TableField, tableField, toFieldName } from './table-field.ts'

const seed = process.env.WINDLASS_SEED
fc.configureGlobal({ numRuns: 300, ...(seed === undefined ? {} : { seed: Number(seed) }) })

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
const text = fc.uint8Array({ maxLength: 400 }).map(latin1)
const shortText = fc.uint8Array({ maxLength: 12 }).map(latin1)
const name = fc.oneof(
  fc.constantFrom(
    ':path',
    ':method',
    ':status',
    'te',
    'grpc-timeout',
    'content-type',
    'x-trace-bin',
    'authorization',
    'date',
  ),
  fc.constantFrom('a', 'b', 'x-request-id'),
  shortText,
)
const value = fc.oneof(fc.constantFrom('', '/', 'GET', '200', 'trailers', '1', '2', '3'), shortText, text)
const fields: fc.Arbitrary<OutgoingField[]> = fc.array(fc.tuple(name, value), { maxLength: 12 })

const encode = (encoder: HpackEncoder, list: readonly OutgoingField[]): Buffer => {
  const target = Buffer.alloc(encodedBound(list) + 64, 0xaa)
  const end = encoder.encode(list, target, 0)
  expect(end).toBeLessThanOrEqual(encodedBound(list))
  return target.subarray(0, end)
}

const newDecoder = (maxListBytes = 1 << 20) => new HpackDecoder({ maxTableBytes: 4096, maxListBytes })

/** Decodes, or returns the HpackError; any other exception fails the test. */
const attempt = (decoder: HpackDecoder, block: Uint8Array): unknown => {
  try {
    return decoder.decode(block, 0, block.length)
  } catch (error) {
    if (error instanceof HpackError) return error
    throw error
  }
}

test('every Latin-1 string round-trips through Huffman coding, and huffmanLength gives the exact length', () => {
  fc.assert(
    fc.property(text, (original) => {
      const coded = Buffer.alloc(4 * original.length + 1)
      const end = encodeHuffman(original, coded, 0)
      expect(end).toBe(huffmanLength(original))
      const target = Buffer.alloc(2 * end + 1)
      expect(target.toString('latin1', 0, decodeHuffman(coded, 0, end, target))).toBe(original)
    }),
  )
})

test('accepted Huffman bytes are the only encoding of their string', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), (coded) => {
      const target = Buffer.alloc(2 * coded.length + 1)
      let length: number
      try {
        length = decodeHuffman(coded, 0, coded.length, target)
      } catch (error) {
        expect(error).toBeInstanceOf(HpackError)
        return
      }
      const again = Buffer.alloc(coded.length + 8)
      const end = encodeHuffman(target.toString('latin1', 0, length), again, 0)
      expect(again.subarray(0, end)).toEqual(Buffer.from(coded))
    }),
    { numRuns: 3000 },
  )
})

test('header lists round-trip over one connection under changing table sizes', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fields.map((list) => ({ list, sizes: [] as number[] })) },
    { weight: 1, arbitrary: fc.record({ list: fields, sizes: fc.array(fc.nat(6000), { maxLength: 4 }) }) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const encoder = new HpackEncoder()
      const decoder = newDecoder()
      for (const { list, sizes } of steps) {
        for (const bytes of sizes) encoder.setMaxTableBytes(bytes)
        // The second block is mostly indexed; the third is byte-identical and comes from the decoder's cache.
        for (let round = 0; round < 3; round++) {
          const block = encode(encoder, list)
          const got = decoder.decode(block, 0, block.length)
          expect(got.fields.map((field) => [field.name, field.value, field.kind])).toEqual(
            list.map(([name, value]) => [name, value, kindOfField(kindOfName(name), value)]),
          )
          expect(got.bytes).toBe(list.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0))
          expect(got.overflowed).toBe(false)
        }
      }
    }),
  )
})

test('maxListBytes truncates the list and has no other effect', () => {
  fc.assert(
    fc.property(fc.array(fields, { maxLength: 10 }), fc.nat(2000), (lists, limit) => {
      const encoder = new HpackEncoder()
      const free = newDecoder()
      const limited = newDecoder(limit)
      for (const list of lists) {
        const block = encode(encoder, list)
        const whole = free.decode(block, 0, block.length)
        const cut = limited.decode(block, 0, block.length)
        expect(cut.bytes).toBe(whole.bytes)
        expect(cut.overflowed).toBe(whole.bytes > limit)
        expect(cut.fields).toEqual(whole.fields.slice(0, cut.fields.length))
        const taken = cut.fields.reduce((sum, { name, value }) => sum + name.length + value.length + 32, 0)
        expect(taken).toBeLessThanOrEqual(limit)
        if (!cut.overflowed) expect(cut.fields).toHaveLength(whole.fields.length)
      }
    }),
  )
})

test('random bytes decode to a list or throw HpackError', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }), (blocks) => {
      const decoder = newDecoder(1000)
      for (const block of blocks) attempt(decoder, block)
    }),
    { numRuns: 3000 },
  )
})

test('damaged blocks decode to a list or throw HpackError', () => {
  const damage = fc.record({ at: fc.nat(), byte: fc.nat(255), kind: fc.constantFrom('set', 'cut', 'insert') })
  fc.assert(
    fc.property(
      fc.array(fields, { minLength: 1, maxLength: 6 }),
      fc.array(damage, { maxLength: 4 }),
      (lists, damages) => {
        const encoder = new HpackEncoder()
        const decoder = newDecoder(2000)
        for (const list of lists) {
          let block = [...encode(encoder, list)]
          for (const { at, byte, kind } of damages) {
            const place = at % (block.length + 1)
            if (kind === 'cut') block = block.slice(0, place)
            else block.splice(place, kind === 'set' ? 1 : 0, byte)
          }
          attempt(decoder, Uint8Array.from(block))
        }
      },
    ),
    { numRuns: 1000 },
  )
})

test('DynamicTable behaves like a list with the newest entry first, truncated to the byte limit', () => {
  const change = fc.oneof(
    { weight: 8, arbitrary: fc.record({ insert: fc.integer({ min: 32, max: 300 }) }) },
    { weight: 1, arbitrary: fc.record({ limit: fc.nat(1000) }) },
  )
  fc.assert(
    fc.property(fc.array(change, { maxLength: 100 }), (changes) => {
      const table = new DynamicTable(1000, 1000)
      let model: TableField[] = []
      let limit = 1000
      const evict = (): void => {
        while (model.reduce((sum, { bytes }) => sum + bytes, 0) > limit) model = model.slice(0, -1)
      }
      for (const step of changes) {
        if ('limit' in step) {
          limit = step.limit
          table.limit(limit)
        } else {
          const field = tableField(toFieldName(''), 'v'.repeat(step.insert - 32))
          table.insert(field)
          model = [field, ...model]
        }
        evict()
        expect([...model.keys(), model.length].map((age) => table.get(age))).toEqual([...model, undefined])
        expect(table.bytes).toBe(model.reduce((sum, { bytes }) => sum + bytes, 0))
      }
    }),
  )
})
