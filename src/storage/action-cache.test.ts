import { expect, test } from 'vitest'
import { hashOf } from '../base/hashing/hash-of.ts'
import { actionResultToProto } from '../wire/reapi/action-result.ts'
import { actionCacheContract } from './action-cache-contract.ts'
import { memoryActionCache } from './memory-action-cache.ts'
import { forgetfulFiles } from './packs/forgetful-files.fixture.ts'
import { openOn } from './packs/pack-store.fixture.ts'
import { packedActionCache } from './packs/packed-action-cache.ts'

actionCacheContract('memory', () => memoryActionCache())
actionCacheContract('packs', async () => packedActionCache((await openOn(forgetfulFiles())).store.values()))

test('a full memory cache evicts the least recently used result', async () => {
  const cache = memoryActionCache({ maxResults: 2 })
  const action = (number: number) => ({ fn: 'sha256', hash: String(number).padStart(64, '0') }) as const
  await cache.put('', action(1), Buffer.from('1'))
  await cache.put('', action(2), Buffer.from('2'))
  await cache.get('', action(1))
  await cache.put('', action(3), Buffer.from('3'))
  expect(
    await Promise.all([1, 2, 3].map(async (number) => (await cache.get('', action(number))) !== undefined)),
  ).toEqual([true, false, true])
})

const ACTION = { fn: 'sha256', hash: '7'.repeat(64), size: 9 } as const
const NONE = { digest: undefined, raw: undefined }

const resultWith = (path: string): Uint8Array =>
  actionResultToProto({
    exitCode: 0,
    outputFiles: [],
    outputDirectories: [],
    outputSymlinks: [{ path, target: 'x', properties: undefined }],
    legacyFileSymlinks: [],
    legacyDirectorySymlinks: [],
    stdout: NONE,
    stderr: NONE,
    metadata: undefined,
  })

/** A cache with one result as versions up to 0.9 stored it: the size unchanged, then a result of any kind. */
async function cacheOfBefore(size: number, result: Uint8Array) {
  const values = (await openOn(forgetfulFiles())).store.values()
  const name = hashOf('sha256', Buffer.from(`result/1/${ACTION.hash}/main`))
  const old = Buffer.alloc(8 + result.length)
  old.writeDoubleLE(size)
  old.set(result, 8)
  await values.put(name, old)
  return {
    cache: packedActionCache(values),
    head: async () => Buffer.from((await values.get(name)) ?? []).readDoubleLE(),
  }
}

test('a result stored by version 0.9 or older is validated once, and an invalid one is a cache miss', async () => {
  const good = await cacheOfBefore(ACTION.size, resultWith('a'))
  expect(Buffer.from((await good.cache.get('main', ACTION)) ?? [])).toEqual(Buffer.from(resultWith('a')))
  expect(await good.head()).toBe(-10) // marked as validated
  expect(Buffer.from((await good.cache.get('main', ACTION)) ?? [])).toEqual(Buffer.from(resultWith('a')))
  expect(await good.cache.get('main', { ...ACTION, size: 8 })).toBeUndefined()
  const unnamed = await cacheOfBefore(Number.NaN, resultWith('a'))
  expect(await unnamed.cache.get('main', ACTION)).toBeDefined()
  for (const path of ['../a', '/a', '', 'a\0'])
    expect(await (await cacheOfBefore(ACTION.size, resultWith(path))).cache.get('main', ACTION)).toBeUndefined()
})
