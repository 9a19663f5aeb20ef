import { describe, expect, test } from 'vitest'
import type { Digest } from '../base/digest.ts'
import type { ActionCache } from './action-cache.ts'

const action: Digest = { fn: 'sha256', hash: 'ab'.repeat(32), size: 142 }
const bytes = (text: string): Uint8Array => Buffer.from(text)

/** What every action cache promises, whatever it keeps results in. */
export function actionCacheContract(name: string, makeCache: Make): void {
  describe(`${name}: an action cache`, () => {
    names(makeCache)
    results(makeCache)
  })
}

type Make = () => ActionCache | Promise<ActionCache>

async function found(cache: ActionCache, instance: string, key: Digest): Promise<string | undefined> {
  const result = await cache.get(instance, key)
  return result && Buffer.from(result).toString()
}

function results(makeCache: Make): void {
  test('answers with what was put, and with nothing before', async () => {
    const cache = await makeCache()
    expect(await found(cache, 'main', action)).toBeUndefined()
    await cache.put('main', action, bytes('exit 0'))
    expect(await found(cache, 'main', action)).toBe('exit 0')
  })

  test('answers with the newest of several results', async () => {
    const cache = await makeCache()
    for (const text of ['first', 'second', 'third']) await cache.put('main', action, bytes(text))
    expect(await found(cache, 'main', action)).toBe('third')
    await Promise.all(['a', 'b', 'c'].map((text) => cache.put('main', action, bytes(text))))
    expect(await found(cache, 'main', action)).toBe('c')
  })

  test('holds results of any size, the empty one too', async () => {
    const cache = await makeCache()
    for (const [size, text] of [
      [1, ''],
      [2, 'x'.repeat(70_000)],
      [3, 'y'.repeat(3_000_000)],
    ] as const) {
      await cache.put('main', { ...action, size }, bytes(text))
      expect(await found(cache, 'main', { ...action, size })).toBe(text)
    }
  })

  test('keeps its own copy', async () => {
    const cache = await makeCache()
    const result = bytes('mine')
    await cache.put('main', action, result)
    result.fill(0)
    expect(await found(cache, 'main', action)).toBe('mine')
  })
}

function names(makeCache: Make): void {
  test('keeps instances apart, and the nameless one from all others', async () => {
    const cache = await makeCache()
    await cache.put('one', action, bytes('of one'))
    await cache.put('', action, bytes('of none'))
    expect(await found(cache, 'one', action)).toBe('of one')
    expect(await found(cache, '', action)).toBe('of none')
    expect(await found(cache, 'on', action)).toBeUndefined()
  })

  test('takes function, hash and size for the name', async () => {
    const cache = await makeCache()
    await cache.put('main', action, bytes('result'))
    for (const other of [
      { ...action, size: 143 },
      { ...action, fn: 'blake3' as const },
      { ...action, hash: 'ac'.repeat(32) },
    ]) {
      expect(await found(cache, 'main', other)).toBeUndefined()
    }
  })
}
