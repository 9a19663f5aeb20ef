import { expect, test } from 'vitest'
import { HASH_WORDS, hashKey, KEY_WORDS } from './key-hash.ts'

const SEED = Uint32Array.of(0x01234567, 0x89abcdef)

const bitsOf = (word: number): number => word.toString(2).replaceAll('0', '').length

/** A key for each number: mostly zeros, as an attacker might choose. */
const keyOf = (number: number): Uint32Array => Uint32Array.of(number, 0, 0, 0, 0, 0, 0, 0, number, 1)

/** For each bit of the words, the fraction of hash bits that change with it. */
function changes(words: Uint32Array, hash: (number: number) => number): number[] {
  return Array.from({ length: words.length * 32 }, (_, bit) => {
    let changed = 0
    for (let number = 0; number < 200; number++) {
      const before = hash(number)
      words[bit >>> 5] = (words[bit >>> 5] as number) ^ (1 << (bit & 31))
      changed += bitsOf((before ^ hash(number)) >>> 0)
      words[bit >>> 5] = (words[bit >>> 5] as number) ^ (1 << (bit & 31))
    }
    return changed / 200 / 32
  })
}
const isHalf = (part: number): boolean => part > 0.4 && part < 0.6

test('each bit of the hash, tag and seed flips about half of the key hash', () => {
  const key = new Uint32Array(KEY_WORDS)
  const ofKey = changes(key, (number) => hashKey(key, 0, Uint32Array.of(number, 7)))
  const tag = (KEY_WORDS - 1) * 32
  expect(ofKey.slice(0, HASH_WORDS * 32).every(isHalf)).toBe(true)
  expect(ofKey.slice(tag, tag + 16).every(isHalf)).toBe(true)
  const seed = SEED.slice()
  expect(changes(seed, (number) => hashKey(keyOf(number), 0, seed)).every(isHalf)).toBe(true)
})

test('the size does not change the key hash, so that a blob can be found by its hash alone', () => {
  const key = new Uint32Array(KEY_WORDS)
  const parts = changes(key, (number) => hashKey(key, 0, Uint32Array.of(number, 7)))
  const size = [...parts.slice(HASH_WORDS * 32, (HASH_WORDS + 1) * 32), ...parts.slice(-16)]
  expect(size.every((part) => part === 0)).toBe(true)
})

test('a key has the same hash at any offset', () => {
  const key = Uint32Array.from({ length: KEY_WORDS }, (_, i) => i * 0x9e3779b1)
  const among = new Uint32Array(40).fill(0xffffffff)
  among.set(key, 14)
  expect(hashKey(among, 14, SEED)).toBe(hashKey(key, 0, SEED))
})
