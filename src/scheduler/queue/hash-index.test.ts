import { expect, test } from 'vitest'
import { randomFrom } from '../../testing/random-source.ts'
import { HashIndex, textHash } from './hash-index.ts'

const numbersOf = (index: HashIndex, hash: number): number[] => {
  const found: number[] = []
  for (let at = index.seek(hash); at >= 0; at = index.seek(hash, at + 1)) found.push(index.numberAt(at))
  return found.sort((one, other) => one - other)
}

test('the index finds exactly the entries that were added and not removed, also with equal hashes', () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  const { below, chance } = randomFrom(seed)
  const index = new HashIndex()
  const there = new Map<number, number>()
  // Few hashes, many adjacent, and some at the end of the table: rows merge and wrap around.
  const hashOf = () => (chance(0.5) ? below(40) : chance(0.5) ? -1 - below(8) : below(2 ** 31))
  for (let i = 0; i < 20_000; i++) {
    if (chance(i < 10_000 ? 0.6 : 0.4) || there.size === 0) {
      const hash = hashOf()
      index.add(hash, i)
      there.set(i, hash)
    } else {
      const numbers = [...there.keys()].slice(0, 50)
      const number = numbers[below(numbers.length)] ?? 0
      index.remove(there.get(number) ?? 0, number)
      there.delete(number)
    }
    if (i % 997 !== 0) continue
    const hash = hashOf()
    const expected = [...there].flatMap(([number, one]) => (one === hash ? [number] : []))
    expect(numbersOf(index, hash), `seed ${seed}`).toEqual(expected.sort((one, other) => one - other))
  }
  for (const [number, hash] of there) expect(numbersOf(index, hash), `seed ${seed}`).toContain(number)
})

test('removing an absent entry changes nothing', () => {
  const index = new HashIndex()
  index.add(7, 1)
  index.remove(7, 2)
  index.remove(8, 1)
  expect(numbersOf(index, 7)).toEqual([1])
})

test('texts that differ in one character, in length or in order have different hashes, and so do two seeds', () => {
  const texts = ['', 'a', 'b', 'aa', 'ab', 'ba', 'aab', 'aba', 'a\0', '\0a', 'ä', '語']
  const counted = Array.from({ length: 100_000 }, (_, i) => `task-${i}`)
  const hashes = new Set([...texts, ...counted].map((text) => textHash(text, 1)))
  // With this many hashes, one or two collisions are expected.
  expect(hashes.size).toBeGreaterThan(texts.length + counted.length - 10)
  expect(textHash('task', 1)).not.toBe(textHash('task', 2))
  const low = new Set(counted.map((text) => textHash(text, 1) & 0xffff))
  expect(low.size, 'of 65,536 places, by chance four in five are met').toBeGreaterThan(48_000)
})
