import { expect, test } from 'vitest'
import { bytesOf, digestOf, listOf, missingOf, putOne } from '../blobs.fixture.ts'
import { forgetfulFiles } from './forgetful-files.fixture.ts'
import { openOn } from './pack-store.fixture.ts'

/** Simulates a broken digest function: stores trust their callers, and digests are verified in a layer above. */
test('1,000 sizes under one hash take at most 64 index entries, and other blobs are stored as usual', async () => {
  const files = forgetfulFiles()
  const opened = await openOn(files)
  const space = opened.store.space(0)
  const hash = digestOf(Buffer.from('broken')).hash
  const digests = Array.from({ length: 1000 }, (_, i) => ({ fn: 'sha256', hash, size: 20_000 - i * 10 }) as const)
  await space.writeMany(
    listOf(digests),
    digests.map(({ size }) => Buffer.alloc(size)),
  )
  const held = (await missingOf(space, digests)).filter((isMissing) => !isMissing).length
  expect(held).toBe(64)
  expect(await space.find('sha256', hash)).toMatchObject({ fn: 'sha256', hash })
  const honest = await putOne(space, Buffer.from('honest'))
  expect(await bytesOf(space, honest)).toEqual(Buffer.from('honest'))
  expect(opened.store.figures().blobs).toBe(65)
  await opened.store.close()

  const again = (await openOn(files)).store
  expect(again.figures().blobs).toBe(65)
  expect(await bytesOf(again.space(0), honest)).toEqual(Buffer.from('honest'))
  await again.close()
})
