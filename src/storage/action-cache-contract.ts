import { describe, expect, test } from 'vitest'
import type { Digest } from '../base/digest.ts'
import type { ActionCache, ActionName } from './action-cache.ts'

const action: Digest = { fn: 'sha256', hash: 'ab'.repeat(32), size: 142 }
const bytes = (text: string): Uint8Array => Buffer.from(text)

/** The behaviour of every action cache. */
export function actionCacheContract(name: string, makeCache: Make): void {
  describe(`${name}: action cache`, () => {
    names(makeCache)
    results(makeCache)
    concurrent(makeCache)
  })
}

type Make = () => ActionCache | Promise<ActionCache>

async function found(cache: ActionCache, instance: string, key: ActionName): Promise<string | undefined> {
  const result = await cache.get(instance, key)
  return result && Buffer.from(result).toString()
}

function results(makeCache: Make): void {
  test('returns the stored result, and undefined before it is stored', async () => {
    const cache = await makeCache()
    expect(await found(cache, 'main', action)).toBeUndefined()
    await cache.put('main', action, bytes('exit 0'))
    expect(await found(cache, 'main', action)).toBe('exit 0')
  })

  test('returns the newest of several results', async () => {
    const cache = await makeCache()
    for (const text of ['first', 'second', 'third']) await cache.put('main', action, bytes(text))
    expect(await found(cache, 'main', action)).toBe('third')
    await Promise.all(['a', 'b', 'c'].map((text) => cache.put('main', action, bytes(text))))
    expect(await found(cache, 'main', action)).toBe('c')
  })

  test('stores results of 0 to 3,000,000 bytes', async () => {
    const cache = await makeCache()
    for (const text of ['', 'x'.repeat(70_000), 'y'.repeat(3_000_000)]) {
      const key = { ...action, hash: text.length.toString(16).padStart(64, '0') }
      await cache.put('main', key, bytes(text))
      expect(await found(cache, 'main', key)).toBe(text)
    }
  })

  test("stores a copy of the caller's bytes", async () => {
    const cache = await makeCache()
    const result = bytes('mine')
    await cache.put('main', action, result)
    result.fill(0)
    expect(await found(cache, 'main', action)).toBe('mine')
  })
}

function names(makeCache: Make): void {
  test('separates instances, including the one with the empty name', async () => {
    const cache = await makeCache()
    await cache.put('one', action, bytes('of one'))
    await cache.put('', action, bytes('of none'))
    expect(await found(cache, 'one', action)).toBe('of one')
    expect(await found(cache, '', action)).toBe('of none')
    expect(await found(cache, 'on', action)).toBeUndefined()
  })

  test('identifies an action by digest function, hash and size', async () => {
    const cache = await makeCache()
    await cache.put('main', action, bytes('result'))
    for (const other of [
      { ...action, size: 143 },
      { ...action, size: 0 },
      { ...action, fn: 'blake3' as const },
      { ...action, hash: 'ac'.repeat(32) },
    ]) {
      expect(await found(cache, 'main', other)).toBeUndefined()
    }
  })

  test('ignores the size when the reader or the writer does not know it', async () => {
    const cache = await makeCache()
    const { size: _, ...nameOnly } = action
    await cache.put('main', nameOnly, bytes('unknown field'))
    expect(await found(cache, 'main', action)).toBe('unknown field')
    expect(await found(cache, 'main', nameOnly)).toBe('unknown field')
    await cache.put('main', action, bytes('the writer knows'))
    expect(await found(cache, 'main', nameOnly)).toBe('the writer knows')
    expect(await found(cache, 'main', { ...action, size: 143 })).toBeUndefined()
  })
}

const withHash = (number: number): Digest => ({ ...action, hash: number.toString(16).padStart(64, '0') })

function concurrent(makeCache: Make): void {
  test('returns the right result to each of 120 concurrent readers', async () => {
    const cache = await makeCache()
    const texts = Array.from({ length: 120 }, (_, i) => `${i} `.repeat(1 + ((i * 997) % 40_000)))
    await Promise.all(texts.map((text, i) => cache.put('main', withHash(i), bytes(text))))
    for (let round = 0; round < 3; round++) {
      const asked = texts.map((_, i) => (i * 7 + round) % texts.length)
      const got = await Promise.all(asked.map((i) => found(cache, 'main', withHash(i))))
      expect(got.every((text, at) => text === texts[asked[at] as number])).toBe(true)
    }
  })

  test.each([100, 70_000, 2_000_000])(
    'returns the old or the new result to concurrent readers, never a mix (%d bytes)',
    async (size) => {
      const cache = await makeCache()
      const texts = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter, i) => letter.repeat(size + i * 1000))
      await cache.put('main', action, bytes(texts[0] as string))
      for (const [i, text] of texts.entries()) {
        const before = texts[Math.max(0, i - 1)]
        const putting = cache.put('main', action, bytes(text))
        const asking = Array.from({ length: 8 }, async (_, turns) => {
          for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
          return found(cache, 'main', action)
        })
        for (const got of await Promise.all(asking)) expect(got === before || got === text).toBe(true)
        await putting
        expect((await found(cache, 'main', action)) === text).toBe(true)
      }
    },
  )
}
