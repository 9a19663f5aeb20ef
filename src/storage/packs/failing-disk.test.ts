import { describe, expect, test } from 'vitest'
import { randomFrom } from '../../testing/random-source.ts'
import { bytesOf, digestOf, holds, putOne, upload } from '../blobs.fixture.ts'
import { forgetfulFiles } from './forgetful-files.fixture.ts'
import { openOn } from './pack-store.fixture.ts'

const random = randomFrom(99)

describe.each(['process', 'power'] as const)('pack store with durability %s', (durability) => {
  test('a full disk refuses writes with retryAfterMs 5000, and loses no acknowledged blob', async () => {
    const files = forgetfulFiles()
    const { store, heard } = await openOn(files, { durability })
    const space = store.space(0)
    const kept = []
    for (let i = 0; i < 20; i++) kept.push(await putOne(space, random.bytes(3000)))
    files.limit(110_000)
    const refused = random.bytes(60_000)
    await expect(upload(space, { digest: digestOf(refused), bytes: refused })).rejects.toMatchObject({
      fault: { kind: 'exhausted', resource: 'disk space', retryAfterMs: 5000 },
    })
    const tooMany = Array.from({ length: 40 }, () => random.bytes(2000))
    const outcomes = await Promise.allSettled(tooMany.map((bytes) => putOne(space, bytes)))
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true)
    expect(heard).toContain('failed write')
    files.limit(Number.POSITIVE_INFINITY)
    const after = await putOne(space, random.bytes(3000))
    for (const digest of [...kept, after]) expect((await bytesOf(space, digest))?.length).toBe(3000)
    for (const [i, bytes] of tooMany.entries()) {
      expect(await holds(space, digestOf(bytes))).toBe(outcomes[i]?.status === 'fulfilled')
    }
    const { store: again } = await openOn(files.afterKill(), { durability })
    for (const digest of [...kept, after]) expect((await bytesOf(again.space(0), digest))?.length).toBe(3000)
  })

  test('after EIO the pack is not written again, and the next blob starts a new pack', async () => {
    const files = forgetfulFiles()
    const { store } = await openOn(files, { durability })
    const space = store.space(0)
    const kept = await putOne(space, random.bytes(3000))
    files.limit(0, 'EIO')
    await expect(putOne(space, random.bytes(3000))).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
    files.limit(Number.POSITIVE_INFINITY)
    const after = await putOne(space, random.bytes(3000))
    expect(files.paths().filter((path) => path.startsWith('packs/'))).toHaveLength(2)
    for (const digest of [kept, after]) expect((await bytesOf(space, digest))?.length).toBe(3000)
  })
})

test('a blob whose sync failed is refused, and the next one starts a new pack', async () => {
  const files = forgetfulFiles()
  const { store, heard } = await openOn(files, { durability: 'power' })
  const space = store.space(0)
  const kept = await putOne(space, random.bytes(3000))
  files.failSyncs = true
  const unsafe = random.bytes(3000)
  await expect(putOne(space, unsafe)).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
  expect(await holds(space, digestOf(unsafe))).toBe(false)
  files.failSyncs = false
  await putOne(space, unsafe)
  expect(heard).toEqual(['failed sync'])
  for (const digest of [kept, digestOf(unsafe)]) expect((await bytesOf(space, digest))?.length).toBe(3000)
  expect(files.paths().filter((path) => path.startsWith('packs/'))).toHaveLength(2)
})
