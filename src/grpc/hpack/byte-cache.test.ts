import { expect, test } from 'vitest'
import { ByteCache } from './byte-cache.ts'

const ask = (cache: ByteCache<string>, key: string): string | undefined =>
  cache.get(Buffer.from(`..${key}..`), 2, 2 + key.length)

const keep = (cache: ByteCache<string>, key: string): void =>
  cache.set(Buffer.from(`.${key}...`), 1, 1 + key.length, `value of ${key}`)

test('a cached value is found by equal bytes at another offset, and not by other bytes', () => {
  const cache = new ByteCache<string>(16, 8)
  keep(cache, 'abc')
  expect(ask(cache, 'abc')).toBe('value of abc')
  for (const other of ['abd', 'ab', 'abcd', 'cba', '']) expect(ask(cache, other)).toBeUndefined()
})

test('a key longer than the key limit is not cached; a key of exactly that length is', () => {
  const cache = new ByteCache<string>(16, 8)
  keep(cache, 'ninebytes')
  expect(ask(cache, 'ninebytes')).toBeUndefined()
  keep(cache, 'eight by')
  expect(ask(cache, 'eight by')).toBe('value of eight by')
})

test('four keys fit into one group, and a fifth key replaces one of them', () => {
  const cache = new ByteCache<string>(4, 8)
  const keys = ['a', 'b', 'c', 'd']
  for (const key of keys) keep(cache, key)
  for (const key of keys) expect(ask(cache, key)).toBe(`value of ${key}`)
  keep(cache, 'e')
  expect(ask(cache, 'e')).toBe('value of e')
  expect(keys.filter((key) => ask(cache, key) !== undefined)).toHaveLength(3)
})

test('two keys with the same hash keep separate values', () => {
  const cache = new ByteCache<string>(16, 8)
  keep(cache, 'b!') // 31 * 98 + 33 = 31 * 97 + 64
  expect(ask(cache, 'a@')).toBeUndefined()
  keep(cache, 'a@')
  expect(ask(cache, 'a@')).toBe('value of a@')
  expect(ask(cache, 'b!')).toBe('value of b!')
})

test('the empty key can be cached', () => {
  const cache = new ByteCache<string>(16, 8)
  expect(ask(cache, '')).toBeUndefined()
  keep(cache, '')
  expect(ask(cache, '')).toBe('value of ')
})

test('a cleared cache is empty and accepts new keys', () => {
  const cache = new ByteCache<string>(4, 8)
  for (const key of ['', 'a', 'b', 'c']) keep(cache, key)
  cache.clear()
  for (const key of ['', 'a', 'b', 'c']) expect(ask(cache, key)).toBeUndefined()
  keep(cache, 'c')
  expect(ask(cache, 'c')).toBe('value of c')
  cache.clear()
  expect(ask(cache, 'c')).toBeUndefined()
})
