import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { seededRandom } from './random.ts'

test('the same seed and purpose give the same bytes, and another purpose gives others', () => {
  const [one, again, other] = [seededRandom('s', 'a'), seededRandom('s', 'a'), seededRandom('s', 'b')]
  const bytes = one.bytes(100)
  expect(again.bytes(100)).toEqual(bytes)
  expect(other.bytes(100)).not.toEqual(bytes)
  expect(one.bytes(100)).not.toEqual(bytes)
})

test('text has the requested length and compresses to under a third', () => {
  const text = seededRandom('s', 'a').text(10_001)
  expect(text.length).toBe(10_001)
  expect(deflateSync(text).length).toBeLessThan(3_000)
})

test('upload ids are version 4 UUIDs', () => {
  expect(seededRandom('s', 'a').uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
})
