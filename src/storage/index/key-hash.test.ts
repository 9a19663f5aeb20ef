import { expect, test } from 'vitest'
import { hashKey, KEY_WORDS } from './key-hash.ts'

const SEED = Uint32Array.of(0x01234567, 0x89abcdef)

const bitsOf = (word: number): number => word.toString(2).replaceAll('0', '').length

/** A key for each number: mostly zeros, as a stranger might choose them. */
const keyOf = (number: number): Uint32Array => Uint32Array.of(number, 0, 0, 0, 0, 0, 0, 0, number, 1)

test('every bit of a key, and every bit of the seed, changes half of the hash', () => {
  const flipEach = (words: Uint32Array, hash: (number: number) => number) => {
    for (let bit = 0; bit < words.length * 32; bit++) {
      let changed = 0
      for (let number = 0; number < 200; number++) {
        const before = hash(number)
        words[bit >>> 5] = (words[bit >>> 5] as number) ^ (1 << (bit & 31))
        changed += bitsOf((before ^ hash(number)) >>> 0)
        words[bit >>> 5] = (words[bit >>> 5] as number) ^ (1 << (bit & 31))
      }
      expect(changed / 200 / 32).toBeGreaterThan(0.4)
      expect(changed / 200 / 32).toBeLessThan(0.6)
    }
  }
  const key = new Uint32Array(KEY_WORDS)
  flipEach(key, (number) => hashKey(key, 0, Uint32Array.of(number, 7)))
  const seed = SEED.slice()
  flipEach(seed, (number) => hashKey(keyOf(number), 0, seed))
})

test('a key has the same hash wherever it lies', () => {
  const key = Uint32Array.from({ length: KEY_WORDS }, (_, i) => i * 0x9e3779b1)
  const among = new Uint32Array(40).fill(0xffffffff)
  among.set(key, 14)
  expect(hashKey(among, 14, SEED)).toBe(hashKey(key, 0, SEED))
})
