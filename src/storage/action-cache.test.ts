import { expect, test } from 'vitest'
import { actionCacheContract } from './action-cache-contract.ts'
import { memoryActionCache } from './memory-action-cache.ts'
import { packedActionCache } from './packed-action-cache.ts'
import { forgetfulFiles } from './packs/forgetful-files.fixture.ts'
import { openOn } from './packs/pack-store.fixture.ts'

actionCacheContract('memory', () => memoryActionCache())
actionCacheContract('packs', async () => packedActionCache((await openOn(forgetfulFiles())).store.values()))

test('a full memory forgets the result that was touched least recently', async () => {
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
